/* Word splitting and prompt substitution. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "box/command.h"

static const struct str placeholder = {"PROMPT", 6};

/* Splitting ----------------------------------------------------------------------------------- */

struct command_splitter {
    struct str rest;
    struct buf word;
    bool in_word;
    char quote; /* 0: not in quotes */
};

/* In "..." a backslash escapes only a few characters; elsewhere any. */
static bool command_is_escape(const struct command_splitter *s, char next)
{
    return s->quote == 0 || (s->quote == '"' && strchr("\"\\$`", next));
}

/* Consumes one character; returns true if it ends a word. */
static bool command_split_step(struct command_splitter *s)
{
    char c = s->rest.p[0];
    s->rest = str_skip(s->rest, 1);
    if (c == s->quote && s->quote) {
        s->quote = 0;
    } else if (!s->quote && (c == '"' || c == '\'')) {
        s->quote = c;
        s->in_word = true;
    } else if (!s->quote && strchr(" \t\n", c)) {
        return s->in_word;
    } else {
        if (c == '\\' && s->quote != '\'' && s->rest.n && command_is_escape(s, s->rest.p[0])) {
            c = s->rest.p[0];
            s->rest = str_skip(s->rest, 1);
        }
        buf_add_byte(&s->word, c);
        s->in_word = true;
    }
    return false;
}

static void command_add_word(struct command_splitter *s, struct arena *a, struct str_list *words)
{
    words->p[words->n++] = arena_str(a, buf_str(&s->word));
    buf_reset(&s->word);
    s->in_word = false;
}

bool command_split(struct str text, struct arena *a, struct str_list *ret_words, struct err *err)
{
    struct command_splitter s = {.rest = text, .word = BUF_INIT(text.n + 1)};
    struct str_list words = {.p = ARENA_NEW(a, struct str, COMMAND_WORDS_MAX)};
    while (s.rest.n && words.n < COMMAND_WORDS_MAX)
        if (command_split_step(&s))
            command_add_word(&s, a, &words);
    if (s.in_word && words.n < COMMAND_WORDS_MAX)
        command_add_word(&s, a, &words);
    buf_done(&s.word);
    if (s.quote)
        return err_set(err, E_CONFIG, "unterminated quote (%c)", s.quote);
    if (words.n == COMMAND_WORDS_MAX)
        return err_set(err, E_CONFIG, "more than %d words", COMMAND_WORDS_MAX - 1);
    *ret_words = words;
    return true;
}

/* The prompt ---------------------------------------------------------------------------------- */

static const char *find_placeholder(struct str word)
{
    return word.n ? memmem(word.p, word.n, placeholder.p, placeholder.n) : NULL;
}

size_t command_prompt_word(const struct str_list *words)
{
    size_t at = 0;
    for (size_t i = 0; i < words->n; i++) {
        if (!find_placeholder(words->p[i]))
            continue;
        if (i == 0 || at)
            return 0;
        at = i;
    }
    return at;
}

/* Replaces the placeholder. A "PROMPT" within the prompt itself is not replaced. */
static const char *command_fill_word(struct str word, struct str prompt, struct arena *a)
{
    AUTO_BUF struct buf b = BUF_INIT(word.n * (prompt.n + 1) + 1);
    const char *at;
    while ((at = find_placeholder(word))) {
        size_t before = (size_t)(at - word.p);
        buf_add(&b, word.p, before);
        buf_add_str(&b, prompt);
        word = str_skip(word, before + placeholder.n);
    }
    buf_add_str(&b, word);
    return arena_strdup(a, buf_str(&b));
}

/* The command line ---------------------------------------------------------------------------- */

static bool check_input(const struct command_input *in, struct err *err)
{
    if (in->prompt.n > COMMAND_PROMPT_MAX)
        return err_set(err, E_CLI_INVALID_ARG, "the prompt has %zu bytes, the limit is %d",
            in->prompt.n, COMMAND_PROMPT_MAX);
    if (in->prompt.n && memchr(in->prompt.p, '\0', in->prompt.n))
        return err_set(err, E_CLI_INVALID_ARG, "the prompt contains a NUL byte");
    return true;
}

bool command_make(
    const struct command_input *in, struct arena *a, struct command *ret_command, struct err *err)
{
    const struct box_agent *agent = in->agent;
    bool headless = in->prompt.p && agent->prompt_mode == AGENT_HEADLESS;
    struct str_list words;
    if (!check_input(in, err) ||
        !command_split(headless ? agent->headless : agent->command, a, &words, err))
        return false;
    enum {
        MORE = 3
    }; /* model option, its value, NULL */
    const char **argv = ARENA_NEW(a, const char *, words.n + in->extra.n + MORE);
    size_t n = 0, at = headless ? command_prompt_word(&words) : 0;
    for (size_t i = 0; i < words.n; i++)
        argv[n++] = at && i == at ? command_fill_word(words.p[i], in->prompt, a)
                                  : arena_strdup(a, words.p[i]);
    bool chosen = in->model.n && agent->model_flag.n;
    if (chosen) {
        argv[n++] = arena_strdup(a, agent->model_flag);
        argv[n++] = arena_strdup(a, agent_model(agent, in->model));
    }
    for (size_t i = 0; i < in->extra.n; i++)
        argv[n++] = arena_strdup(a, in->extra.p[i]);
    *ret_command = (struct command){.argv = argv,
        .typed = headless ? (struct str){0} : in->prompt,
        .model_ignored = in->model.n && !chosen};
    return true;
}
