# cordon render. See run.py for the format.

## text: one line per row of the screen
$ printf 'one\r\n  two  \r\n' | cordon render --rows 3 --cols 10 | cat -A
one$
  two$
$
$ printf 'a' | cordon render | wc -l
24
$ printf '%0100d' 7 | cordon render | head -2
00000000000000000000000000000000000000000000000000000000000000000000000000000000
00000000000000000007

## a file, stdin, and -
$ printf 'hi' > f && cordon render f --rows 1 && cordon render --rows 1 < f && cordon render - --rows 1 < f
hi
hi
hi

## line feeds with and without onlcr
$ printf 'a\nb' | cordon render --rows 2
a
 b
$ printf 'a\nb' | cordon render --rows 2 --onlcr
a
b

## the screen after a number of bytes
$ printf 'abc\033[2Jdef' > f
$ cordon render f --rows 1 --at 3
abc
$ cordon render f --rows 1 --at 0 | wc -c
1
$ cordon render f --rows 1 --at 999
   def

## a truncated character counts only at the end of the input
$ printf 'a\xe6\x97\xa5' > f && cordon render f --rows 1 --at 3
a
$ head -c 3 f | cordon render --rows 1
a�

## the JSON snapshot
$ printf '\033]2;T"\007\xe6\x97\xa5x\033[?25l' | cordon render --json --rows 2 --cols 4 | sed -E 's/"snapshot_id":"[0-9a-f-]{36}"/"snapshot_id":ID/'
{"protocol_version":1,"snapshot_version":1,"snapshot_id":ID,"rows":2,"cols":4,"cursor":{"row":0,"col":3,"visible":false},"alternate_screen":false,"title":"T\"","unicode":"15.0","width":"grapheme","lines":["日x",""],"events":[{"type":"title","text":"T\"","count":1}],"events_dropped":0}
$ printf '\033[?1049hx' | cordon render --format json --width wcwidth | python3 -c '
> import json, sys
> o = json.load(sys.stdin)
> print(o["alternate_screen"], o["width"], len(o["lines"]), "cells" in o)'
True wcwidth 24 False

## cells: an index is a column number
$ printf '\033[1;31m\xe6\x97\xa5\033[0;4:3;38;2;1;2;3;48;5;7mx\033[m' | cordon render --json --cells --rows 1 --cols 4 | python3 -c '
> import json, sys
> for c in json.load(sys.stdin)["cells"][0]: print(json.dumps(c, ensure_ascii=False))'
{"ch": "日", "width": 2, "style": {"fg": {"ansi_16": 1}, "bg": "default", "bold": true, "italic": false, "underline": false, "inverse": false}}
{"ch": "", "width": 0, "style": {"fg": {"ansi_16": 1}, "bg": "default", "bold": true, "italic": false, "underline": false, "inverse": false}}
{"ch": "x", "width": 1, "style": {"fg": {"rgb": {"r": 1, "g": 2, "b": 3}}, "bg": {"ansi_256": 7}, "bold": false, "italic": false, "underline": true, "inverse": false, "underline_style": "curly"}}
{"ch": " ", "width": 1, "style": {"fg": "default", "bg": "default", "bold": false, "italic": false, "underline": false, "inverse": false}}
$ printf '\033]8;;http://a/\033\\x' | cordon render --json --cells --rows 1 --cols 1 | python3 -c '
> import json, sys
> print(json.load(sys.stdin)["cells"][0][0]["style"]["link"])'
http://a/

## events: equal ones are listed once
$ printf '\a\a\xff\033[?99$z\033[?99$z\a' | cordon render --json | python3 -c '
> import json, sys
> for e in json.load(sys.stdin)["events"]: print(json.dumps(e))'
{"type": "bell", "text": "", "count": 3}
{"type": "replaced_character", "text": "\\xFF", "count": 1}
{"type": "unknown_sequence", "text": "\u001b[?99$z", "count": 2}

## escape sequences: only changes, reset at the end of a line
$ printf '\033[1;31mab\033[22mc\033[0m d\r\n\033[44m  \033[0m   ' | cordon render --rows 2 --cols 10 --format ansi | cat -v
^[[1;31mab^[[22mc^[[m d
^[[44m  ^[[m
$ printf 'x\033]8;;http://a/\033\\y\033]8;;\033\\z' | cordon render --rows 1 --format ansi | cat -v
x^[]8;;http://a/^[\y^[]8;;^[\z

## escape sequences: a link with invalid characters is dropped
$ printf '\033]8;;http://a/\xc3\xa9 b\033\\y\033]8;;\033\\' | cordon render --rows 1 --format ansi | cat -v
y

## hostile text is text in HTML
$ printf '</pre><script>alert(1)</script> "q" \x27s\x27 & ]]>' > f && cordon render f --rows 1 --format html > p.html
$ grep -c '<script' p.html
0
? 1
$ grep -o '&lt;/pre&gt;.*' p.html
&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt; &quot;q&quot; &#39;s&#39; &amp; ]]&gt;
$ grep -c "content=\"default-src 'none'; style-src 'unsafe-inline'\"" p.html
1
$ printf '\033]2;</title><script>\007x' | cordon render --rows 1 --format html | grep -o '<title>.*\|<h1>.*</h1>'
<title>&lt;/title&gt;&lt;script&gt;</title>
<h1>&lt;/title&gt;&lt;script&gt;</h1>

## hostile text is text in SVG, which is XML
$ printf '\033]2;</title>\007</text><script>x</script> ]]> & \x27 " \xef\xbf\xbe \xe2\x80\xae' | cordon render --rows 2 --format svg > d.svg
$ grep -c '<script\|href' d.svg
0
? 1
$ python3 -c '
> import xml.etree.ElementTree as e
> print([t.text for t in e.parse("d.svg").iter("{http://www.w3.org/2000/svg}text")][:2])'
['</title>', '</text><script>x</script> ]]> & \' "']

## links in HTML: only http and https
$ printf '\033]8;;https://a/?b&c"\033\\one\033]8;;javascript:alert(1)\033\\two\033]8;;HTTP://b\033\\three\033]8;;http:x\033\\four\033]8;;\033\\' | cordon render --rows 1 --format html | sed -n '/<pre>/,$p' | grep -o 'one\|two\|three\|four\|<a [^>]*>\|<span title[^>]*>'
<a rel="noopener noreferrer" href="https://a/?b&amp;c&quot;">
one
<span title="javascript:alert(1)">
two
<a rel="noopener noreferrer" href="HTTP://b">
three
<span title="http:x">
four

## wide characters have two columns
$ printf '\xe6\x97\xa5x' | cordon render --rows 1 --format html | grep -o '<u .*'
<u style="width:2ch">日</u>x
$ printf '\xe6\x97\xa5x' | cordon render --rows 1 --format svg | grep -o '<text .*'
<text x="9" y="14" text-anchor="middle">日</text>
<text x="18" y="14">x</text>

## concealed text is in no picture
$ printf 'a\033[8msecret\033[mb' > f
$ for format in html svg; do cordon render f --format $format | grep -c secret; done
0
0
? 1
$ cordon render f --rows 1
asecretb

## lines and blocks are drawn as shapes, and are also text in HTML
$ printf '\xe2\x94\x80\xe2\x94\x80' > f && cordon render f --rows 1 --format html | grep -o '<path.*\|<u .*'
<path fill="#e8ebf2" d="M18 0h9v19h-9Z"/>
<path fill="#d6dce8" d="M4 9H9V10H4ZM0 9H5V10H0ZM13 9H18V10H13ZM9 9H14V10H9Z"/>
<u class="x" style="width:2ch">──</u>

## any bytes, any size
$ head -c 200000 /dev/urandom > f
$ for format in text json ansi html svg; do for size in 1 7 1000; do cordon render f --rows $size --cols $size --format $format > out || echo failed; done; done
$ cordon render f --rows 5 --cols 40 --format svg > d.svg && python3 -c 'import xml.etree.ElementTree as e; e.parse("d.svg")'
$ cordon render /dev/null | wc -l
24

## replies to queries
$ printf '\033[6n\033[5n' | cordon render --replies r --rows 1 > /dev/null && cat -v r && echo
^[[1;1R^[[0n
$ printf 'x' | cordon render --replies r --rows 1 > /dev/null && wc -c < r
0

## an output file
$ printf 'x' | cordon render --rows 1 -o out && cat out
x
$ printf 'y' | cordon render --rows 1 --output out --json && grep -c '"lines":\["y"\]' out
1

## the output file can't be the input
$ echo x > f && cordon render f --output f
cordon: 'f' is the input and would be overwritten [E_CLI_INVALID_ARG]
? 12
$ ln f g && cordon render f --replies g
cordon: 'g' is the input and would be overwritten [E_CLI_INVALID_ARG]
? 12
$ cat f
x

## unreadable input, unwritable output
$ cordon render nowhere
cordon: cannot read 'nowhere': No such file or directory [E_IO]
? 10
$ cordon render .
cordon: cannot read '.': Is a directory [E_IO]
? 10
$ cordon render /dev/null --replies no/such
cordon: cannot write 'no/such': No such file or directory [E_IO]
? 10
$ cordon render /dev/null -o /dev/full
cordon: cannot write '/dev/full': No space left on device [E_IO]
? 10
$ cordon render nowhere --json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_IO","message":"cannot read 'nowhere': No such file or directory","context":{"errno":"ENOENT"}}}
? 10
$ cordon render nowhere --format json 2>/dev/null
{"protocol_version":1,"error":{"code":"E_IO","message":"cannot read 'nowhere': No such file or directory","context":{"errno":"ENOENT"}}}
? 10

## invalid values
$ cordon render --rows 0
cordon: invalid value '0' for --rows: expected a whole number from 1 to 1000 [E_CLI_INVALID_ARG]
cordon: try 'cordon render --help'
? 12
$ cordon render --cols 1001
cordon: invalid value '1001' for --cols: expected a whole number from 1 to 1000 [E_CLI_INVALID_ARG]
cordon: try 'cordon render --help'
? 12
$ cordon render --format pdf
cordon: invalid value 'pdf' for --format: expected .* \[E_CLI_INVALID_ARG\] (re)
cordon: try 'cordon render --help'
? 12
$ cordon render --at -1
cordon: invalid value '-1' for --at: expected a whole number from 0 to 9223372036854775807 [E_CLI_INVALID_ARG]
cordon: try 'cordon render --help'
? 12
$ cordon render --scrollback 100001
cordon: invalid value '100001' for --scrollback: expected a whole number from 0 to 100000 [E_CLI_INVALID_ARG]
cordon: try 'cordon render --help'
? 12
$ cordon render --json --format svg 2>&1 >/dev/null
cordon: --json cannot be combined with a --format other than json [E_CLI_INVALID_ARG]
cordon: try 'cordon render --help'
? 12
$ cordon render --cells
cordon: --cells requires --format json [E_CLI_INVALID_ARG]
cordon: try 'cordon render --help'
? 12
$ cordon render a b
cordon: unexpected argument 'b' [E_CLI_INVALID_ARG]
cordon: try 'cordon render --help'
? 12
