/*
 * One request struct per call; a request waits in a list until the signer is up, then crosses the
 * channel.
 *
 * What can fail: the signer is absent, or answers something else than promised. Both are an error
 * for the caller, who denies. A request whose signer ended, or hung, before it answered waits for
 * the next one like any other: nothing was made of an answer that nobody got, and a new signer
 * takes no head before head.resume has shown that it goes on with the same history.
 */
#include "broker/signer_client.h"

#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "broker/probe.h"
#include "broker/timer.h"

#define TRIES_MAX 3 /* a request that ends each signer it meets ends no more of them */

struct request {
	struct request *next;
	struct signer_client *client;
	char *method;
	struct json *params; /* owned */
	int tries;
	signer_done *done;
	void *data;
	struct timer *wait; /* NULL once it is on the wire */
};

enum signer_state { SIGNER_DOWN, SIGNER_GREETING, SIGNER_GREETED, SIGNER_UP };

struct signer_client {
	uv_loop_t *loop;
	struct signer_owner owner;
	struct channel *channel; /* NULL while down */
	enum signer_state state;
	bool known; /* keys are filled */
	struct signer_public keys;
	struct request *waiting; /* in order */
	int log_deaths;		 /* signers that ended with a request of the log, in a row */
	uint64_t signers;	 /* attached so far */
	uint64_t counted;	 /* the last of them in log_deaths */
	bool hurries;
	uint64_t away_since_ms;	 /* of the loop; while state is not SIGNER_UP */
};

static void request_free(struct request *request)
{
	timer_stop(request->wait);
	json_free(request->params);
	mem_free(request->method);
	mem_free(request);
}

static void request_fail(struct request *request, const struct err *why)
{
	request->done(request->data, NULL, why);
	request_free(request);
}

static void waiting_remove(struct signer_client *client, const struct request *request)
{
	struct request **link = &client->waiting;

	while (*link != NULL && *link != request)
		link = &(*link)->next;
	if (*link != NULL)
		*link = request->next;
}

static void on_waited(void *data)
{
	struct request *request = data;
	struct err err;

	waiting_remove(request->client, request);
	err_set(&err, ERR_UNAVAILABLE, "the signer is not running");
	request_fail(request, &err);
}

static bool is_of_the_log(const struct request *request)
{
	return strcmp(request->method, "head.sign") == 0 ||
	       strcmp(request->method, "epoch.roll") == 0;
}

static uint64_t wait_ms(const struct request *request)
{
	return is_of_the_log(request) && !request->client->hurries ? SIGNER_AWAY_MS
								   : SIGNER_WAIT_MS;
}

/* Behind those that wait already: they were sent before it. */
static void wait_for_signer(struct request *request)
{
	struct request **link = &request->client->waiting;

	while (*link != NULL)
		link = &(*link)->next;
	request->next = NULL;
	*link = request;
	request->wait = timer_start(request->client->loop, wait_ms(request), on_waited, request);
}

/* How many signers ended over it. What the log asks is asked anew of each (drop_of_the_log()), and
 * several requests of it may meet one end. */
static int deaths(const struct request *request)
{
	struct signer_client *client = request->client;

	if (!is_of_the_log(request))
		return request->tries;
	if (client->counted != client->signers)
		client->log_deaths++;
	client->counted = client->signers;
	return client->log_deaths;
}

static bool close_channel(struct signer_client *client)
{
	struct channel *channel = TAKE(client->channel);

	if (client->state == SIGNER_UP)
		client->away_since_ms = uv_now(client->loop);
	client->state = SIGNER_DOWN;
	channel_close(channel);
	return channel != NULL;
}

static void go_down(struct signer_client *client, const struct err *why)
{
	if (close_channel(client))
		client->owner.on_down(client->owner.self, why);
}

/* What else is on the wire is answered as canceled, so it waits behind this one. */
static void give_up_on_it(struct signer_client *client)
{
	struct err why;

	err_set(&why, ERR_TIMEOUT, "it has not answered for %d s", SIGNER_CALL_MS / 1000);
	go_down(client, &why);
}

static void on_answer(void *data, const struct json *result, const struct err *err)
{
	struct request *request = data;
	bool late = err != NULL && err->kind == ERR_TIMEOUT;
	struct err why;

	if ((late || (err != NULL && err->kind == ERR_CANCELED)) && deaths(request) < TRIES_MAX) {
		struct signer_client *client = request->client;

		wait_for_signer(request);
		if (late)
			give_up_on_it(client);
		return;
	}
	if (late || (err != NULL && err->kind == ERR_CANCELED)) {
		err_set(&why, ERR_UNAVAILABLE,
			late ? "the signer does not answer" : "the signer ended");
		request_fail(request, &why);
		return;
	}
	if (is_of_the_log(request))
		request->client->log_deaths = 0;
	request->done(request->data, result, err);
	request_free(request);
}

/* False when the channel is ending; the request then waits for the next signer. */
static bool request_send(struct request *request)
{
	struct signer_client *client = request->client;
	struct json *copy = json_copy(request->params);

	if (channel_call(client->channel, request->method, copy, SIGNER_CALL_MS, on_answer,
			 request) == 0)
		return false;
	timer_stop(TAKE(request->wait));
	request->tries++;
	return true;
}

static void send_waiting(struct signer_client *client)
{
	while (client->state == SIGNER_UP && client->waiting != NULL) {
		struct request *request = client->waiting;

		client->waiting = request->next;
		if (!request_send(request)) {
			request->next = client->waiting;
			client->waiting = request;
			return;
		}
	}
}

void signer_client_call(struct signer_client *client, const char *method, struct json *params,
			signer_done *done, void *data)
{
	struct request *request = mem_alloc(sizeof(*request));

	request->client = client;
	request->method = mem_str(method);
	request->params = params;
	request->done = done;
	request->data = data;
	wait_for_signer(request);
	send_waiting(client);
}

static void disagree(struct signer_client *client, const struct err *why)
{
	if (close_channel(client))
		client->owner.on_disagreement(client->owner.self, why);
}

static void on_closed(struct channel *channel, void *owner, const struct err *why)
{
	struct signer_client *client = owner;
	struct err err = *why;

	(void)channel;
	if (err.kind == ERR_NONE)
		err_set(&err, ERR_UNAVAILABLE, "the signer ended");
	client->channel = NULL; /* it frees itself */
	if (client->state == SIGNER_UP)
		client->away_since_ms = uv_now(client->loop);
	client->state = SIGNER_DOWN;
	client->owner.on_down(client->owner.self, &err);
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct signer_client *client = owner;
	struct err err;

	(void)params;
	err_set(&err, ERR_DENIED, "the signer may not call anything");
	if (id > 0)
		channel_fail(channel, id, &err, NULL);
	client->owner.on_request(client->owner.self, method);
	go_down(client, &err);
}

static const struct channel_handlers handlers = {on_request, on_closed};

static int read_token_key(const struct json *token, struct token_key *ret_key, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *kid;
	const char *x;

	if (json_want_str(token, "kid", &kid, err) < 0 || json_want_str(token, "x", &x, err) < 0 ||
	    base64url_read(x, strlen(x), &bytes, err) < 0)
		return -1;
	if (bytes.len != ED25519_PUBLIC_LEN)
		return err_set(err, ERR_INVALID, "a public key of %zu bytes", bytes.len);
	token_key_init(ret_key, (const uint8_t *)bytes.bytes);
	if (strcmp(ret_key->kid, kid) != 0)
		return err_set(err, ERR_INVALID, "kid is not the thumbprint of its key");
	return 0;
}

/* The first keys are kept; later ones must be the same, or someone else's signer sits there. */
static int take_keys(struct signer_client *client, const struct json *result, struct err *err)
{
	const struct json *token;
	const struct json *log;
	const struct json *epoch;
	struct token_key key;
	const char *origin;
	const char *vkey;
	int64_t last;

	if (json_want_object(result, "token", &token, err) < 0 ||
	    json_want_object(result, "epoch", &epoch, err) < 0 ||
	    json_want_int(result, "last", 0, JSON_INT_MAX, &last, err) < 0 ||
	    json_want_object(result, "log", &log, err) < 0 ||
	    read_token_key(token, &key, err) < 0 ||
	    json_want_str(log, "origin", &origin, err) < 0 ||
	    json_want_str(log, "vkey", &vkey, err) < 0 ||
	    signer_read_epoch(epoch, &client->keys.epoch, err) < 0)
		return -1;
	client->keys.last = (uint64_t)last;
	if (!client->known) {
		client->keys.token = key;
		client->keys.origin = mem_str(origin);
		client->keys.vkey = mem_str(vkey);
		client->keys.iss = mem_format("https://%s", origin);
		client->keys.aud = mem_format("https://%s/tools", origin);
		client->known = true;
		return 0;
	}
	if (strcmp(key.kid, client->keys.token.kid) != 0 ||
	    strcmp(origin, client->keys.origin) != 0 || strcmp(vkey, client->keys.vkey) != 0)
		return err_set(err, ERR_DENIED, "the new signer has other keys than the last one");
	return 0;
}

static void on_keys(void *data, const struct json *result, const struct err *err)
{
	struct signer_client *client = data;
	struct err why;

	if (client->channel == NULL || client->state != SIGNER_GREETING)
		return; /* on_down said why */
	if (err != NULL) {
		why = *err;
	} else if (take_keys(client, result, &why) == 0) {
		client->state = SIGNER_GREETED;
		client->owner.on_keys(client->owner.self, &client->keys);
		return;
	}
	err_wrap(&why, "the signer's keys");
	if (err == NULL)
		disagree(client, &why);
	else
		go_down(client, &why);
}

void signer_client_attach(struct signer_client *client, int fd)
{
	struct channel *old = TAKE(client->channel);

	if (client->state == SIGNER_UP)
		client->away_since_ms = uv_now(client->loop);
	client->signers++;
	client->state = SIGNER_GREETING;
	channel_close(old);
	client->channel = channel_open(client->loop, fd, "signer", &handlers, client);
	if (channel_call(client->channel, "keys", json_object(), SIGNER_CALL_MS, on_keys, client) ==
	    0)
		client->state = SIGNER_DOWN; /* on_closed follows */
}

static void on_resumed(void *data, const struct json *result, const struct err *err)
{
	struct signer_client *client = data;
	struct err why;

	(void)result;
	if (client->channel == NULL || client->state == SIGNER_GREETING)
		return;
	if (err == NULL)
		return;
	why = *err;
	if (err->kind == ERR_CANCELED || err->kind == ERR_TIMEOUT) {
		go_down(client, &why);
		return;
	}
	err_wrap(&why, "the signer does not go on with this log");
	disagree(client, &why);
}

/* What the log asked of the last signer and was never sent would not go on from where this one
 * stands: the log asks anew. */
static void drop_of_the_log(struct signer_client *client)
{
	struct request **link = &client->waiting;
	struct err err;

	err_set(&err, ERR_UNAVAILABLE, "another signer is there now");
	while (*link != NULL) {
		struct request *request = *link;

		if (!is_of_the_log(request)) {
			link = &request->next;
			continue;
		}
		*link = request->next;
		request_fail(request, &err);
	}
}

void signer_client_resume(struct signer_client *client, struct audit *audit)
{
	uint8_t peaks[AUDIT_PEAKS_MAX][SHA256_LEN];
	uint64_t size;
	size_t count = audit_frontier(audit, client->keys.last, &client->keys.epoch, &size, peaks);
	struct json *params = json_object();
	struct json *list = json_array();
	char hex[SHA256_HEX_LEN + 1];

	drop_of_the_log(client);
	for (size_t i = 0; i < count; i++) {
		hex_write(peaks[i], SHA256_LEN, hex);
		json_push_str(list, hex);
	}
	json_set_int(params, "size", (int64_t)size);
	json_set(params, "peaks", list);
	/* What follows on the channel comes after it, and is refused if it is. */
	if (channel_call(client->channel, "head.resume", params, SIGNER_CALL_MS, on_resumed,
			 client) == 0)
		return;
	client->state = SIGNER_UP;
	send_waiting(client);
}

struct signer_client *signer_client_new(uv_loop_t *loop, const struct signer_owner *owner)
{
	struct signer_client *client = mem_alloc(sizeof(*client));

	client->loop = loop;
	client->owner = *owner;
	return client;
}

void signer_client_free(struct signer_client *client)
{
	struct err err;

	if (client == NULL)
		return;
	client->state = SIGNER_DOWN;
	channel_close(TAKE(client->channel));
	err_set(&err, ERR_UNAVAILABLE, "the service is stopping");
	while (client->waiting != NULL) {
		struct request *request = client->waiting;

		client->waiting = request->next;
		request_fail(request, &err);
	}
	mem_free(client->keys.origin);
	mem_free(client->keys.vkey);
	mem_free(client->keys.iss);
	mem_free(client->keys.aud);
	audit_epoch_clear(&client->keys.epoch);
	mem_free(client);
}

bool signer_client_up(const struct signer_client *client)
{
	return client->state == SIGNER_UP;
}

bool signer_client_away(const struct signer_client *client, struct err *ret_why)
{
	if (client->state == SIGNER_UP || !client->known ||
	    uv_now(client->loop) - client->away_since_ms <= SIGNER_WAIT_MS)
		return false;
	err_set(ret_why, ERR_UNAVAILABLE,
		"the signer does not answer; the log goes on when it is there again");
	return true;
}

void signer_client_hurry(struct signer_client *client)
{
	client->hurries = true;
	for (struct request *at = client->waiting; at != NULL; at = at->next) {
		timer_stop(at->wait);
		at->wait = timer_start(client->loop, wait_ms(at), on_waited, at);
	}
}

struct probing {
	int fd;
};

static void on_probed(void *data, const struct json *result, const struct err *err)
{
	struct probing *probing = data;

	(void)result;
	if (err == NULL)
		IGNORE(!probe_answer(&probing->fd), "it is asked once");
	fd_closep(&probing->fd);
	mem_free(probing);
}

void signer_client_probe(struct signer_client *client, int fd)
{
	struct probing *probing = mem_alloc(sizeof(*probing));

	probing->fd = fd;
	if (client->channel == NULL || channel_call(client->channel, "keys", json_object(),
						    SIGNER_CALL_MS, on_probed, probing) == 0) {
		close(fd);
		mem_free(probing);
	}
}

const struct signer_public *signer_client_keys(const struct signer_client *client)
{
	return client->known ? &client->keys : NULL;
}
