/* /approve: approval mode and rules. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chat/chat.h"
#include "tool/rule.h"

static struct approve *approve_of(struct chat *chat)
{
    return &chat->setup.tools.box->approve;
}

static bool chat_consent_parse_mode(struct str word, enum approve_mode *ret_mode)
{
    for (unsigned i = 0; i < APPROVE_MODES; i++)
        if (str_is(word, approve_mode_names[i])) {
            *ret_mode = (enum approve_mode)i;
            return true;
        }
    return false;
}

static void chat_consent_apply_line(struct chat *chat, struct str line)
{
    enum approve_mode mode;
    if (chat_consent_parse_mode(line, &mode)) {
        chat->setup.tools.options.approve.mode = mode;
        chat->setup.tools.options.approve.by_settings = false;
    } else if (str_starts_with(line, STR("-"))) {
        (void)approve_forget(approve_of(chat), str_skip(line, 1));
    } else {
        (void)approve_remember(approve_of(chat), line);
    }
}

void chat_consent_apply(struct chat *chat)
{
    struct str line, rest = buf_str(&chat->consent);
    while (chat->consent.n && str_cut(rest, '\n', &line, &rest))
        if (line.n)
            chat_consent_apply_line(chat, line);
    buf_reset(&chat->consent);
}

static void add_rules(struct buf *b, const char *title, const struct str_list *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        buf_printf(b, "%s\n  " STR_FMT, i ? "" : title, STR_ARG(rules->p[i]));
}

static void chat_consent_print(struct chat *chat)
{
    static const char *const meaning[] = {
        [APPROVE_NEVER] = "no questions are asked",
        [APPROVE_ON_REQUEST] = "you are asked before a change that no rule allows",
        [APPROVE_ALWAYS] = "you are asked before every change",
    };
    AUTO_BUF struct buf b = BUF_INIT(1 << 20);
    const struct approve_options *o = &chat->setup.tools.options.approve;
    pthread_mutex_lock(&chat->lock);
    buf_printf(&b, "approval %s: %s", approve_mode_names[o->mode], meaning[o->mode]);
    add_rules(&b, "\nallowed by your settings:", &o->allow);
    add_rules(&b, "\nallowed in this conversation:", &approve_of(chat)->remembered);
    pthread_mutex_unlock(&chat->lock);
    buf_add_z(&b, "\n/approve never, on-request or always sets the mode; /approve 'TOOL:PATTERN', "
                  "such as shell:git *, adds a rule; /approve -'TOOL:PATTERN' removes it");
    chat_note(chat, buf_z(&b));
}

/* Quotes are not needed, but accepted as in a shell. */
static struct str unquote(struct str s)
{
    bool quoted = s.n > 1 && (s.p[0] == '\'' || s.p[0] == '"') && s.p[s.n - 1] == s.p[0];
    return quoted ? str_head(str_skip(s, 1), s.n - 2) : s;
}

static bool is_remembered(struct chat *chat, struct str rule)
{
    const struct str_list *rules = &approve_of(chat)->remembered;
    bool found = false;
    pthread_mutex_lock(&chat->lock);
    for (size_t i = 0; i < rules->n; i++)
        found |= str_eq(rules->p[i], rule);
    pthread_mutex_unlock(&chat->lock);
    return found;
}

static bool chat_consent_check_word(
    struct chat *chat, struct str word, bool forget, struct err *err)
{
    enum approve_mode mode;
    if (!forget && chat_consent_parse_mode(word, &mode))
        return true;
    if (!forget && str_find(word, ':') < 0)
        return err_set(err, E_CLI_INVALID_ARG,
            "'" STR_FMT
            "' is neither a mode (never, on-request or always) nor a rule such as shell:git *",
            STR_ARG(word));
    if (forget && !is_remembered(chat, word))
        return err_set(err, E_NOT_FOUND,
            "no such rule in this conversation: '" STR_FMT
            "'; rules in the settings cannot be removed here",
            STR_ARG(word));
    return forget || rule_check(word, err);
}

void chat_consent_run(struct chat *chat, struct str words)
{
    AUTO_ERR struct err err = {0};
    bool forget = str_starts_with(words, STR("-"));
    struct str word = unquote(forget ? str_skip(words, 1) : words);
    if (words.n == 0) {
        pthread_mutex_lock(&chat->lock);
        bool waits = chat->consent.n;
        pthread_mutex_unlock(&chat->lock);
        chat_consent_print(chat);
        if (waits)
            chat_note(chat, "pending changes take effect at the next tool call");
        return;
    }
    if (!chat_consent_check_word(chat, word, forget, &err)) {
        chat_note_error(chat, &err);
        return;
    }
    pthread_mutex_lock(&chat->lock);
    buf_printf(&chat->consent, "%s" STR_FMT "\n", forget ? "-" : "", STR_ARG(word));
    if (!chat->busy)
        chat_consent_apply(chat);
    pthread_mutex_unlock(&chat->lock);
    if (chat->busy)
        chat_note(chat, "takes effect at the next tool call");
    else
        chat_consent_print(chat);
}
