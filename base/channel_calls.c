/*
 * A hash table on ids (which count upwards, so low bits spread them) with two lists through it.
 * The deadline list is sorted by insertion from its end: calls mostly have the same timeout, so the
 * end is nearly always the place. Cannot fail.
 */
#include "base/channel_calls.h"

#include "base/mem.h"

#define BUCKETS_AT_START 16u

void channel_calls_init(struct channel_calls *calls)
{
	*calls = (struct channel_calls){0};
	TAILQ_INIT(&calls->in_order);
	TAILQ_INIT(&calls->by_deadline);
	calls->bucket_count = BUCKETS_AT_START;
	calls->buckets = mem_array(calls->bucket_count, sizeof(*calls->buckets));
}

void channel_calls_clear(struct channel_calls *calls)
{
	struct channel_call *call;

	while ((call = TAILQ_FIRST(&calls->in_order)) != NULL)
		channel_calls_remove(calls, call);
	mem_free(calls->buckets);
	calls->buckets = NULL;
}

static struct channel_call **bucket_of(const struct channel_calls *calls, int64_t id)
{
	return &calls->buckets[(uint64_t)id & (calls->bucket_count - 1)];
}

static void put_in_bucket(struct channel_calls *calls, struct channel_call *call)
{
	struct channel_call **bucket = bucket_of(calls, call->id);

	call->next_in_bucket = *bucket;
	*bucket = call;
}

static void grow_if_full(struct channel_calls *calls)
{
	struct channel_call *call;

	if (calls->count < calls->bucket_count)
		return;
	mem_free(calls->buckets);
	calls->bucket_count *= 2;
	calls->buckets = mem_array(calls->bucket_count, sizeof(*calls->buckets));
	TAILQ_FOREACH(call, &calls->in_order, in_order)
	put_in_bucket(calls, call);
}

static void put_by_deadline(struct channel_calls *calls, struct channel_call *call)
{
	struct channel_call *before;

	TAILQ_FOREACH_REVERSE(before, &calls->by_deadline, channel_call_list, by_deadline)
	if (before->deadline_ms <= call->deadline_ms)
		break;
	if (before != NULL)
		TAILQ_INSERT_AFTER(&calls->by_deadline, before, call, by_deadline);
	else
		TAILQ_INSERT_HEAD(&calls->by_deadline, call, by_deadline);
}

struct channel_call *channel_calls_add(struct channel_calls *calls, channel_done *done, void *data,
				       uint64_t deadline_ms)
{
	struct channel_call *call = mem_alloc(sizeof(*call));

	grow_if_full(calls);
	call->id = ++calls->last_id;
	call->done = done;
	call->data = data;
	call->deadline_ms = deadline_ms;
	put_in_bucket(calls, call);
	TAILQ_INSERT_TAIL(&calls->in_order, call, in_order);
	if (deadline_ms > 0)
		put_by_deadline(calls, call);
	if (calls->first_unsent == NULL)
		calls->first_unsent = call;
	calls->count++;
	return call;
}

struct channel_call *channel_calls_find(const struct channel_calls *calls, int64_t id)
{
	struct channel_call *call = *bucket_of(calls, id);

	while (call != NULL && call->id != id)
		call = call->next_in_bucket;
	return call;
}

struct channel_call *channel_calls_next_to_send(const struct channel_calls *calls)
{
	struct channel_call *call = calls->first_unsent;

	if (call == NULL || calls->on_wire >= CHANNEL_INFLIGHT_MAX ||
	    calls->bytes_on_wire + call->line.len > CHANNEL_QUEUE_MAX)
		return NULL;
	return call;
}

void channel_calls_mark_sent(struct channel_calls *calls, struct channel_call *call)
{
	if (calls->first_unsent == call)
		calls->first_unsent = TAILQ_NEXT(call, in_order);
	call->bytes_on_wire = call->line.len;
	calls->bytes_on_wire += call->bytes_on_wire;
	calls->on_wire++;
	buf_clear(&call->line);
	call->sent = true;
}

static void drop_deadline(struct channel_calls *calls, struct channel_call *call)
{
	if (call->deadline_ms > 0)
		TAILQ_REMOVE(&calls->by_deadline, call, by_deadline);
	call->deadline_ms = 0;
}

void channel_calls_give_up(struct channel_calls *calls, struct channel_call *call,
			   channel_done **ret_done, void **ret_data)
{
	*ret_done = call->done;
	*ret_data = call->data;
	call->done = NULL;
	drop_deadline(calls, call);
	if (!call->sent)
		channel_calls_remove(calls, call);
}

void channel_calls_remove(struct channel_calls *calls, struct channel_call *call)
{
	struct channel_call **link = bucket_of(calls, call->id);

	while (*link != call)
		link = &(*link)->next_in_bucket;
	*link = call->next_in_bucket;
	if (calls->first_unsent == call)
		calls->first_unsent = TAILQ_NEXT(call, in_order);
	TAILQ_REMOVE(&calls->in_order, call, in_order);
	drop_deadline(calls, call);
	if (call->sent)
		calls->on_wire--;
	calls->bytes_on_wire -= call->bytes_on_wire;
	calls->count--;
	buf_clear(&call->line);
	mem_free(call);
}

struct channel_call *channel_calls_first_deadline(const struct channel_calls *calls)
{
	return TAILQ_FIRST(&calls->by_deadline);
}
