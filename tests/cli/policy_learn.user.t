# cordon policy new --learn as an ordinary user. See run.py for the format.

## a user's command
$ mkdir -p app data && touch data/{1,2,3,4} && cd app && echo 'int main(void){return 0;}' > a.c && cordon policy new --learn -- sh -c 'cat ../data/* a.c | wc -l; cc a.c -o a; ./a && echo ran' > ../p.yaml
cordon: warning: '/.*/sh' runs UNCONFINED, to learn which files it uses (re)
1
ran
$ cordon policy check p.yaml -- "$(command -v sh)"
allowed
$ grep -E 'data|app' p.yaml
    - "$T/app"
    - "$T/data"
    # "$T/app",
  working_dir: "$T/app"
    # - "$T/app"

## accesses refused by permissions are not in the policy
$ mkdir -p app shut && echo x > shut/x && chmod 0 shut && cd app && cordon policy new --learn -- sh -c 'cat /etc/shadow ../shut/x; echo no > /etc/cordon-no; exit 0' 2> /dev/null > ../p.yaml; cordon policy check ../p.yaml; grep -c 'shadow\|shut\|cordon-no' ../p.yaml
allowed
0
? 1

## a program that can be run but not read can't be observed: reported
$ mkdir app && cd app && cp "$(command -v cat)" mycat && chmod 111 mycat && echo x > a && cordon policy new --learn --json -- sh -c './mycat a' 2>&1 > ../o.json | tail -n 1
cordon: warning: some actions of the command could not be analysed and are missing from the policy
$ python3 -c '
> import json
> l = json.load(open("o.json"))["learned"]
> print(l["complete"], any(p.endswith("/app/mycat") for p in l["exec"]))'
False True

## set-user-id programs gain no privileges
$ mkdir app && cd app && cordon policy new --learn -- sh -c 'grep NoNewPrivs /proc/self/status' > /dev/null
cordon: warning: '/.*/sh' runs UNCONFINED, to learn which files it uses (re)
NoNewPrivs:\t1 (esc)

## the learned policy is sufficient in the sandbox, and grants no more
$ mkdir -p app data && echo 'int main(void){return 0;}' > app/a.c && touch data/{1,2,3,4,one,two} && ln -s one data/link && printf '#!/bin/sh\nmkdir -p out\ncc -o out/a a.c && out/a && cat ../data/[1-4] ../data/link && echo done > out/done && cat out/done\n' > app/build && chmod +x app/build
$ cd app && cordon policy new --learn --ack-unsafe-write -- ./build 2> /dev/null > ../p.yaml; rm -r out; cordon exec --policy ../p.yaml -- "$T/app/build" && ls out
done
a
done
$ cd app && echo secret > ../outside && printf '#!/bin/sh\ncat %s\n' ../outside > build && cordon exec --policy ../p.yaml --exit-code child -- "$T/app/build" 2>&1 | grep -c secret
0
? 1

## interrupted: nothing is left
$ mkdir app && cd app && mkfifo ready never alive
$ (cd app && exec cordon policy new --learn -- sh -c 'exec 3> alive; cat < never & echo x > ready; read x < never') > p.yaml 2> err & exec 4< app/alive; read x < app/ready; kill -TERM $!; cat <&4; wait $!; echo "exit $?"; cordon policy check p.yaml
exit 130
allowed
