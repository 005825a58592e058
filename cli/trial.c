/* One session for all calls. What can fail: reaching the service, and every call. */
#include "cli/trial.h"

#include <string.h>

#include "cli/ask_service.h"

static enum err_kind refusal_kind(const char *rejected_by)
{
	static const struct {
		const char *by;
		enum err_kind kind;
	} kinds[] = {{"database", ERR_INVALID}, {"statement", ERR_INVALID}, {"policy", ERR_INVALID},
		     {"limit", ERR_LIMIT},	{"budget", ERR_LIMIT},	    {"token", ERR_DENIED}};

	for (size_t i = 0; rejected_by && i < ARRAY_LEN(kinds); i++) {
		if (strcmp(rejected_by, kinds[i].by) == 0)
			return kinds[i].kind;
	}
	return ERR_UNAVAILABLE;
}

static struct json *call_params(const struct trial *trial, const char *tool, struct json *arguments)
{
	struct json *params = json_object();

	json_set_str(params, "agent", trial->agent);
	json_set_str(params, "tool", tool);
	json_set(params, "arguments", arguments ? arguments : json_object());
	return params;
}

int trial_call(struct trial *trial, const char *tool, struct json *arguments,
	       struct json **ret_result, struct err *err)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params = call_params(trial, tool, arguments);
	int called;

	if (trial->open) {
		called = client_call(trial->service.client, "call", params, NULL, NULL, &result,
				     NULL, err);
	} else {
		called = service_first_call(trial->workspace, SERVICE_ABSENT_OK, &trial->service,
					    "call", params, NULL, NULL, &result, err);
		json_free(params);
		trial->open = called == 0;
	}
	if (called < 0) {
		/* an RPC error is about the call or the service, never about the statement */
		if (err->kind == ERR_INVALID)
			err->kind = ERR_UNAVAILABLE;
		return -1;
	}
	if (!json_get_bool(result, "ok", false)) {
		const char *text = json_get_str(result, "error");

		return err_set(err, refusal_kind(json_get_str(result, "rejected_by")), "%s",
			       text ? text : "refused without a reason");
	}
	*ret_result = TAKE(result);
	return 0;
}

void trial_close(struct trial *trial)
{
	if (trial->open)
		service_leave(&trial->service);
	trial->open = false;
}
