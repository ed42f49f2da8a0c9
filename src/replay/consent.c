/* Acknowledgements of whoever replays. */
#include "replay/consent.h"

enum {
    WORDS_MAX = 512,
};

struct demand {
    bool made, met;
    const char *what, *flag;
};

static void add(struct buf *words, const char *word, const char *between)
{
    buf_printf(words, "%s%s", words->n ? between : "", word);
}

bool consent_check(const struct consent *given, struct policy *policy, struct err *err)
{
    bool bare = policy->sandbox == POLICY_NO_SANDBOX;
    bool whole = policy->sandbox == POLICY_NATIVE || policy->sandbox == POLICY_SEATBELT;
    const struct demand demands[] = {
        {!whole, given->sandbox, bare ? "runs it without a sandbox" : "runs it in a weaker sandbox",
            "--ack-unsafe-sandbox"},
        {bare || policy->network == POLICY_NETWORK_ENABLED, given->network,
            "lets it use the network", "--ack-unsafe-network"},
        {policy->fs.allowed_write.n > 0, given->write, "lets it write files", "--ack-unsafe-write"},
    };
    AUTO_BUF struct buf whats = BUF_INIT(WORDS_MAX), flags = BUF_INIT(WORDS_MAX);
    for (size_t i = 0; i < ARRAY_LEN(demands); i++) {
        if (!demands[i].made || demands[i].met)
            continue;
        add(&whats, demands[i].what, ", and ");
        add(&flags, demands[i].flag, " ");
    }
    policy->sandbox_unsafe_ack = given->sandbox;
    policy->network_unsafe_ack = given->network;
    policy->fs_write_unsafe_ack = given->write;
    if (flags.n == 0)
        return true;
    err_set(err, E_POLICY_DENIED,
        "the recorded policy %s: whoever recorded it agreed to that, you did not; if you trust the "
        "recording, add %s, or give --offline to run nothing",
        buf_z(&whats), buf_z(&flags));
    return err_ctx(err, "missing", "%s", buf_z(&flags));
}
