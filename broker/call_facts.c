/* What a call speaks of: its database, what it may see, and the names a decision is made on. */
#include "broker/call_model.h"

#include <string.h>

#include "broker/agent.h"

void fact_names_add(struct fact_names *names, const char *name)
{
	names->items = mem_grow(names->items, (names->count + 1) * sizeof(*names->items));
	names->items[names->count++] = mem_str(name);
}

void fact_names_clear(struct fact_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		mem_free(names->items[i]);
	mem_free(names->items);
	*names = (struct fact_names){0};
}

int fact_names_read(struct fact_names *names, const struct json *array, struct err *err)
{
	if (json_type(array) != JSON_ARRAY || json_len(array) > FACT_NAMES_MAX)
		return err_set(err, ERR_INVALID, "not a list of at most %u names", FACT_NAMES_MAX);
	fact_names_clear(names);
	names->items = mem_array(json_len(array) + 1, sizeof(*names->items));
	json_each(name, array)
	{
		if (json_str(name) == NULL || json_str(name)[0] == '\0')
			return err_set(err, ERR_INVALID, "a name is not a string");
		names->items[names->count++] = mem_str(json_str(name));
	}
	return 0;
}

struct json *fact_names_json(const struct fact_names *names)
{
	struct json *list = json_array();

	for (size_t i = 0; i < names->count; i++)
		json_push_str(list, names->items[i]);
	return list;
}

static struct names borrow(const struct fact_names *names)
{
	return (struct names){(const char *const *)names->items, names->count};
}

void call_facts(const struct call *call, struct call_facts *ret_facts)
{
	*ret_facts = (struct call_facts){
		.agent = call->agent->name,
		.subject = agent_subject(call->agent),
		.setting = broker_setting(call->broker),
		.arguments = call->decided_on,
		.approved = borrow(&call->approved),
		.tool = call->tool->name,
		.database = call->database,
		.tables = borrow(&call->tables),
		.columns = borrow(&call->columns),
		.functions = borrow(&call->functions),
	};
}

/* As long as its key is the same a view is: rules that look at the clock tell by the minute, and
 * a view for one call's arguments is for no other call. */
static char *view_key(const struct broker *broker, const char *tool, const struct json *arguments,
		      const char *database, const struct setting *setting)
{
	const struct bundle *bundle = broker->config->bundle;

	if (arguments != NULL && bundle_uses_arguments(bundle))
		return NULL;
	return mem_format("%s/%s/%lld/%lld", tool, database,
			  (long long)token_store_epoch(broker->store),
			  bundle_uses_time(bundle) ? (long long)setting->now_s / 60 : 0);
}

const struct json *call_view(struct agent *agent, const char *tool, const struct json *arguments,
			     const char *database)
{
	struct broker *broker = agent->peer.broker;
	struct subject subject = agent_subject(agent);
	struct setting setting = broker_setting(broker);
	CLEANUP(mem_freep)
	char *key = view_key(broker, tool, arguments, database, &setting);

	if (key != NULL && agent->view_key != NULL && strcmp(agent->view_key, key) == 0)
		return agent->view;
	json_free(agent->view);
	mem_free(agent->view_key);
	agent->view = policy_view(broker->config->bundle, agent->name, &subject, &setting, tool,
				  arguments, database);
	agent->view_key = TAKE(key);
	return agent->view;
}

const struct json *call_own_view(const struct call *call, const char *database)
{
	return call_view(call->agent, call->tool->name,
			 call->tool->way == TOOL_STATEMENT ? NULL : call->decided_on, database);
}

const char *call_pool_key(struct agent *agent, const struct token_claims *claims)
{
	struct broker *broker = agent->peer.broker;
	int64_t epoch = token_store_epoch(broker->store);
	CLEANUP(mem_freep) char *of = mem_format("%s/%lld", claims->jti, (long long)epoch);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	char hash[SHA256_HEX_LEN + 1];

	if (agent->pool_key_of != NULL && strcmp(agent->pool_key_of, of) == 0)
		return agent->pool_key;
	buf_addf(&text, "%s\n%s\n", claims->client_id, claims->sub);
	json_write_canonical(claims->details, &text);
	sha256_hex(text.bytes, text.len, hash);
	mem_free(agent->pool_key);
	mem_free(agent->pool_key_of);
	agent->pool_key = mem_format("%s:%lld:%s", bundle_digest(broker->config->bundle),
				     (long long)epoch, hash);
	agent->pool_key_of = TAKE(of);
	return agent->pool_key;
}

static bool database_visible(struct call *call, const char *database)
{
	const struct json *view = call_own_view(call, database);

	return json_len(json_get(view, "tables")) > 0;
}

/* With one source there is nothing to choose; with several, what is out of sight does not exist. */
bool call_pick_database(struct call *call)
{
	const struct connectors *connectors = &call->broker->connectors;
	CLEANUP(mem_freep) char *asked = mem_str(json_get_str(call->arguments, "database"));
	const char *found = NULL;
	size_t visible = 0;

	if (connectors->count == 0) {
		call_refuse(call, "unavailable", "no_source", "try again later",
			    "no source of data is connected");
		return false;
	}
	if (connectors->count == 1) {
		call->database = mem_str(connectors->items[0]->name);
		return true;
	}
	for (size_t i = 0; i < connectors->count; i++) {
		const char *name = connectors->items[i]->name;

		if (!database_visible(call, name) || (asked != NULL && strcmp(asked, name) != 0))
			continue;
		found = name;
		visible++;
	}
	if (visible != 1) {
		if (asked != NULL)
			call_refuse(call, "arguments", "database", "call tool.list",
				    "there is no database \"%.64s\"", asked);
		else
			call_refuse(call, "arguments", "database",
				    "name the database, as tool.list shows",
				    "%s needs the argument \"database\"", call->tool->name);
		return false;
	}
	call->database = mem_str(found);
	json_remove(call->arguments, "database");
	return true;
}
