/* A script as the source of an answer: like serve-script, but without HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/script.h"
#include "llm/source.h"

struct player {
    const struct script_turn *turn;
    size_t part;
    bool open;       /* the part's block has begun */
    struct buf text; /* arguments of the open call */
    struct str rest; /* remaining text of the block */
    uint64_t deltas;
};

static struct player *player_of(struct attempt *a)
{
    if (!a->state) {
        struct player *p = base_alloc(sizeof(*p));
        *p = (struct player){.text = BUF_INIT(SCRIPT_TEXT_MAX)};
        p->turn = script_next_for(a->provider->script, a->request->messages);
        a->state = p;
    }
    return a->state;
}

static void end_player(struct attempt *a)
{
    struct player *p = a->state;
    if (!p)
        return;
    buf_done(&p->text);
    free(p);
    a->state = NULL;
}

static enum source_step player_fail(
    struct attempt *a, const struct script_turn *turn, struct err *err)
{
    const struct script_error *e = turn->error;
    if (!e) {
        a->failure.broken = true;
        err_set(err, E_PROVIDER, "the script interrupts the answer here");
        return SOURCE_FAILED;
    }
    a->failure.status = (long)e->status;
    a->failure.broken = e->status == 0;
    if (e->retry_after.p)
        snprintf(a->failure.retry_after, sizeof(a->failure.retry_after), STR_FMT,
            STR_ARG(str_head(e->retry_after, sizeof(a->failure.retry_after) - 1)));
    err_set(err, E_PROVIDER, "error in the script: " STR_FMT, STR_ARG(str_head(e->message, 4096)));
    if (e->type.p)
        err_ctx(err, "provider_error", STR_FMT, STR_ARG(str_head(e->type, 128)));
    return SOURCE_FAILED;
}

/* An HTTP error comes first; other faults where the script places them. */
static bool fails_now(const struct player *p)
{
    const struct script_turn *t = p->turn;
    if (!t->error && !t->fault)
        return false;
    if (t->error && t->error->status && !t->has_after)
        return true;
    return t->has_after ? p->deltas >= t->after : p->part == t->n_parts;
}

static bool player_begin_call(struct attempt *a, struct player *p, struct err *err)
{
    const struct script_call *call = p->turn->parts[p->part].call;
    AUTO_BUF struct buf id = BUF_INIT(512);
    script_call_id(a->provider->script, call, &id);
    buf_reset(&p->text);
    script_arguments(call, &p->text);
    p->rest = buf_str(&p->text);
    return answer_begin_call(a->answer, p->part, buf_str(&id), call->name, err);
}

static bool begin_part(struct attempt *a, struct player *p, struct err *err)
{
    const struct script_part *part = &p->turn->parts[p->part];
    p->open = true;
    p->rest = STR("");
    if (part->has_delay)
        return waiter_sleep(&a->waiter, part->delay_ms, err);
    if (part->call)
        return player_begin_call(a, p, err);
    if (part->raw.p)
        return true;
    p->rest = part->text.p ? part->text : part->thinking.p ? part->thinking : part->redacted;
    enum block_type type = part->text.p       ? BLOCK_TEXT
                           : part->thinking.p ? BLOCK_THINKING
                                              : BLOCK_REDACTED_THINKING;
    return answer_begin(a->answer, p->part, type, err);
}

static bool end_part(struct attempt *a, struct player *p, struct err *err)
{
    const struct script_part *part = &p->turn->parts[p->part];
    size_t key = p->part++;
    p->open = false;
    if (part->has_delay || part->raw.p)
        return true;
    if (part->signature.p && !answer_sign(a->answer, key, part->signature, err))
        return false;
    return answer_end(a->answer, key, err);
}

static bool player_step(struct attempt *a, struct player *p, struct err *err)
{
    const struct script_part *part = &p->turn->parts[p->part];
    struct str delta;
    if (!p->open)
        return begin_part(a, p, err);
    if (part->redacted.p && p->rest.n) { /* opaque: in one piece */
        delta = p->rest;
        p->rest = STR("");
    } else if (!script_delta(p->turn, &p->rest, &delta)) {
        return end_part(a, p, err);
    }
    p->deltas++;
    return answer_add(a->answer, p->part, delta, err);
}

static enum source_step player_pull(struct attempt *a, struct err *err)
{
    struct player *p = player_of(a);
    if (!waiter_check(&a->waiter, err))
        return SOURCE_FAILED;
    if (fails_now(p))
        return player_fail(a, p->turn, err);
    if (p->part < p->turn->n_parts)
        return player_step(a, p, err) ? SOURCE_MORE : SOURCE_FAILED;
    enum stop_reason stop = script_stop(p->turn);
    struct str raw = p->turn->stop_reason.p ? p->turn->stop_reason : str_z(stop_reason_names[stop]);
    answer_usage(a->answer, &p->turn->usage);
    answer_stop(a->answer, stop, raw);
    return SOURCE_WHOLE;
}

const struct source source_script = {.pull = player_pull, .end = end_player};
