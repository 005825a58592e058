/* See lint.h. A finding names its rule and a path of keys; the place is looked up in the YAML. */
#include "policy/lint.h"

#include <string.h>
#include <strings.h>

#include "policy/compare_parts.h"
#include "policy/source.h"
#include "policy/vocabulary.h"

struct lint {
	const struct bundle *bundle;
	const struct json *json;
	const struct scope_files *files;
	struct problems *problems;
};

/* ---- places ---- */

static const struct yaml *rule_node(const struct lint *lint, const char *id)
{
	for (size_t f = 0; f < lint->files->count; f++) {
		const struct yaml *rules = yaml_get(lint->files->items[f].root, "rules");

		for (size_t i = 0; rules != NULL && i < yaml_len(rules); i++) {
			const char *text = yaml_text(yaml_get(yaml_at(rules, i), "id"));

			if (text != NULL && strcmp(text, id) == 0)
				return yaml_at(rules, i);
		}
	}
	return NULL;
}

static const struct yaml *key_node(const struct yaml *map, const char *key)
{
	for (size_t i = 0; map != NULL && yaml_kind(map) == YAML_MAP && i < yaml_len(map); i++)
		if (strcmp(yaml_text(yaml_key(map, i)), key) == 0)
			return yaml_key(map, i);
	return NULL;
}

/* The key itself, or the rule when it stands elsewhere (a flow, a list). */
static const struct yaml *place(const struct lint *lint, const struct rule *rule, const char *key,
				const char *table)
{
	const struct yaml *node = rule_node(lint, rule->id);
	const struct yaml *found;

	if (table != NULL)
		found = key_node(yaml_get(yaml_get(node, "data"), "tables"), table);
	else
		found = key == NULL ? NULL : key_node(node, key);
	return found != NULL ? found : node;
}

/* ---- never ---- */

/* Which condition no value can meet, by trying it in every frame; NULL when some frame meets all.
 */
static const char *impossible(const struct rule *rule, const struct frames *frames)
{
	if (frames->instants.count == 0)
		return "time";
	for (size_t i = 0; i < frames->attributes.count; i++)
		if (json_len(frames->attributes.items[i].values) == 0 &&
		    !frames->attributes.items[i].may_lack)
			return "attributes";
	for (size_t i = 0; i < frames->arguments.count; i++)
		if (json_len(frames->arguments.items[i].values) == 0 &&
		    !frames->arguments.items[i].may_lack)
			return "arguments";
	return rule->phase != RULE_LISTING && frames->subject_count == 0 ? "users" : NULL;
}

/* ---- shadows ---- */

struct shade {			       /* what is left of a rule that grants */
	bool allows;		       /* some call, with data or without */
	bool holds;		       /* in some frame, whoever takes it away then */
	const struct condition *stop;  /* the furthest that some frame came to */
	bool *tables;		       /* by table of the rule */
	const struct rule *by;	       /* the rule that took the last of it */
	const struct rule **tables_by; /* likewise */
};

static const struct rule *taker_of(const struct rule *rule, const struct active *active,
				   const char *table)
{
	for (size_t i = 0; i < active->takes.count; i++) {
		const struct rule_data *data = &active->takes.items[i]->data;

		if (data->kind == DATA_ALL || data->tables_all)
			return active->takes.items[i];
		for (size_t t = 0; table != NULL && t < data->table_count; t++)
			if (strcasecmp(data->tables[t].name, table) == 0)
				return active->takes.items[i];
	}
	(void)rule;
	return NULL;
}

static void note_tables(const struct rule *rule, const struct atoms *atoms,
			const struct active *active, struct shade *shade)
{
	for (size_t t = 0; t < rule->data.table_count; t++) {
		const char *name = rule->data.tables[t].name;
		bool reads_columns = false, touched = false;

		for (size_t i = 0; i < atoms->count; i++) {
			if (atoms->items[i].table == NULL ||
			    strcmp(atoms->items[i].table, name) != 0)
				continue;
			touched = true;
			reads_columns = reads_columns || atoms->items[i].column != NULL;
		}
		if (touched && (reads_columns || rule->data.tables[t].columns.count == 0))
			shade->tables[t] = true;
		else if (shade->tables_by[t] == NULL)
			shade->tables_by[t] = taker_of(rule, active, name);
	}
}

static void look_at_frame(const struct side *side, const struct frame *frame,
			  const struct rule *rule, struct shade *shade)
{
	CLEANUP(active_clear) struct active active;
	CLEANUP(atoms_clear) struct atoms atoms = {0};
	const struct rule *all;
	bool holds = false;

	active_find(side, frame, &active);
	for (size_t i = 0; i < active.grants.count; i++)
		holds = holds || active.grants.items[i] == rule;
	if (!holds) {
		const struct condition *stop = frame_stops(side, frame, rule);

		if (stop != NULL && (shade->stop == NULL || stop > shade->stop))
			shade->stop = stop;
		return;
	}
	shade->holds = true;
	all = taker_of(rule, &active, NULL);
	if (frame->facts.database != NULL) {
		atoms_of_rule(rule, &active.takes, side, side, &atoms);
		note_tables(rule, &atoms, &active, shade);
	}
	if (all == NULL)
		shade->allows = true;
	else if (shade->by == NULL)
		shade->by = all;
}

/* False when the frames are too many to look at. */
static bool look_at(const struct side *side, const struct call_facts *who, const struct rule *rule,
		    struct shade *shade, const char **ret_impossible)
{
	CLEANUP(frames_clear) struct frames frames;
	struct frame frame = {*who};
	size_t count;

	frames_find(rule, side, side, &frames);
	*ret_impossible = impossible(rule, &frames);
	count = frames_count(&frames);
	if (count > COMPARE_FRAMES_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		frames_at(&frames, i, &frame.facts);
		look_at_frame(side, &frame, rule, shade);
	}
	return true;
}

static void tell(struct lint *lint, const struct rule *rule, const struct shade *shade)
{
	if (!shade->allows) {
		if (shade->by != NULL)
			problems_add(lint->problems, PROBLEM_WARNING, "shadowed",
				     place(lint, rule, "effect", NULL),
				     "rule %s allows nothing: rule %s (%s) takes every such call "
				     "away",
				     rule->id, shade->by->id, shade->by->at);
		return;
	}
	for (size_t t = 0; t < rule->data.table_count; t++) {
		const struct rule *by = shade->tables_by[t];

		if (!shade->tables[t] && by != NULL)
			problems_add(lint->problems, PROBLEM_WARNING, "shadowed",
				     place(lint, rule, "data", rule->data.tables[t].name),
				     "table %s of rule %s can never be read: rule %s (%s) takes it "
				     "away",
				     rule->data.tables[t].name, rule->id, by->id, by->at);
	}
}

/* Every agent and tool that the rule names. */
static bool each_pair(struct lint *lint, const struct rule *rule, struct shade *shade,
		      const char **ret_impossible)
{
	size_t tool_count;
	CLEANUP(mem_freep)
	const char **tools = compare_tools(lint->bundle, lint->bundle, &tool_count);

	for (size_t a = 0; a < bundle_agent_count(lint->bundle); a++)
		for (size_t t = 0; t < tool_count; t++) {
			const char *agent = bundle_agent_at(lint->bundle, a)->name;
			struct side side = compare_side(lint->bundle, agent, tools[t]);
			struct call_facts who = {.agent = agent, .tool = tools[t]};
			bool named = false, done = true;

			for (size_t i = 0; i < side.rules.count; i++)
				named = named || side.rules.items[i] == rule;
			if (named)
				done = look_at(&side, &who, rule, shade, ret_impossible);
			mem_free(side.rules.items);
			if (!done)
				return false;
		}
	return true;
}

/* ---- repeats ---- */

static struct bundle *bundle_without(const struct json *json, const char *id)
{
	CLEANUP(json_freep) struct json *less = json_copy(json);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct json *rules = json_array();
	struct bundle *bundle = NULL;

	json_each(rule, json_get(json, "rules")) if (strcmp(json_get_str(rule, "id"), id) != 0)
		json_push(rules, json_copy(rule));
	json_set(less, "rules", rules);
	json_write_canonical(less, &bytes);
	return bundle_read(bytes.bytes, bytes.len, &bundle, NULL) < 0 ? NULL : bundle;
}

static bool is_same(const struct differences *found)
{
	return found->count == 0 && found->complete;
}

/* Is the policy the same without the rule, for all it names? */
static bool is_repeated(struct lint *lint, const struct rule *rule)
{
	CLEANUP(bundle_freep) struct bundle *less = bundle_without(lint->json, rule->id);
	size_t tool_count;
	CLEANUP(mem_freep)
	const char **tools = compare_tools(lint->bundle, lint->bundle, &tool_count);
	bool same = less != NULL;

	for (size_t a = 0; a < bundle_agent_count(lint->bundle) && same; a++) {
		const char *agent = bundle_agent_at(lint->bundle, a)->name;

		for (size_t t = 0; t < tool_count && same; t++) {
			struct differences wider, narrower;

			policy_wider(less, lint->bundle, agent, tools[t], &wider);
			policy_wider(lint->bundle, less, agent, tools[t], &narrower);
			same = is_same(&wider) && is_same(&narrower);
			differences_clear(&wider);
			differences_clear(&narrower);
		}
	}
	return same;
}

static bool set_covers(bool one_all, const struct symbol_set *one, bool other_all,
		       const struct symbol_set *other)
{
	if (one_all)
		return true;
	if (other_all)
		return false;
	for (size_t i = 0; i < other->count; i++)
		if (!symbol_set_has(one, other->items[i]))
			return false;
	return true;
}

static bool users_cover(const struct rule *one, const struct rule *other)
{
	if (one->everyone || other->everyone)
		return one->everyone;
	return set_covers(false, &one->users, false, &other->users) &&
	       set_covers(false, &one->groups, false, &other->groups) &&
	       set_covers(false, &one->tenants, false, &other->tenants);
}

static const struct rule_table *same_table(const struct rule_data *data, const char *name)
{
	for (size_t t = 0; t < data->table_count; t++)
		if (strcasecmp(data->tables[t].name, name) == 0)
			return &data->tables[t];
	return NULL;
}

static bool data_covers(const struct rule_data *one, const struct rule_data *other)
{
	if (one->kind == DATA_ALL || other->kind == DATA_ALL)
		return one->kind == DATA_ALL;
	if (strcmp(one->database_name, other->database_name) != 0)
		return false;
	if (one->tables_all || other->tables_all || other->function_list_count > 0)
		return one->tables_all;
	for (size_t t = 0; t < other->table_count; t++) {
		const struct rule_table *table = same_table(one, other->tables[t].name);

		if (table == NULL || !set_covers(table->all, &table->columns, other->tables[t].all,
						 &other->tables[t].columns))
			return false;
	}
	return true;
}

/* Has the rule conditions beside agents, users, tools and data? */
static bool is_plain(const struct rule *rule)
{
	return rule->phase == RULE_ALWAYS && rule->only_tenants.count == 0 &&
	       rule->environments.count == 0 && rule->attribute_count == 0 &&
	       rule->argument_count == 0 && rule->time.zone == NULL;
}

/* A guard that takes away what nobody grants is no mistake; one that another guard repeats is. */
static const struct rule *repeated_guard(const struct lint *lint, const struct rule *rule)
{
	for (size_t i = 0; i < lint->bundle->rule_count; i++) {
		const struct rule *other = &lint->bundle->rules[i];

		if (other != rule && other->effect == rule->effect && is_plain(other) &&
		    set_covers(other->agents_all, &other->agents, rule->agents_all,
			       &rule->agents) &&
		    set_covers(other->tools_all, &other->tools, rule->tools_all, &rule->tools) &&
		    users_cover(other, rule) && data_covers(&other->data, &rule->data))
			return other;
	}
	return NULL;
}

/* ---- all rules ---- */

static void lint_allow(struct lint *lint, const struct rule *rule)
{
	CLEANUP(mem_freep) bool *tables = mem_array(rule->data.table_count + 1, sizeof(*tables));
	CLEANUP(mem_freep)
	const struct rule **by = mem_array(rule->data.table_count + 1, sizeof(*by));
	struct shade shade = {.tables = tables, .tables_by = by};
	const char *never = NULL;

	if (rule->phase == RULE_LISTING || !rule_is_understood(rule))
		return;
	if (!each_pair(lint, rule, &shade, &never))
		return;
	if (never == NULL && shade.stop != NULL)
		never = shade.stop->key;
	if (!shade.holds && never != NULL) {
		CLEANUP(mem_freep) char *key = mem_strn(never, strcspn(never, "."));

		problems_add(lint->problems, PROBLEM_WARNING, "never_matches",
			     place(lint, rule, key, NULL),
			     "rule %s can never match: no call meets its %s beside the others",
			     rule->id, never);
		return;
	}
	tell(lint, rule, &shade);
	if (shade.allows && is_repeated(lint, rule))
		problems_add(lint->problems, PROBLEM_WARNING, "redundant",
			     place(lint, rule, "effect", NULL),
			     "rule %s changes nothing: other rules allow all that it allows, with "
			     "the same limits",
			     rule->id);
}

static void lint_guard(struct lint *lint, const struct rule *rule)
{
	const struct rule *other = repeated_guard(lint, rule);

	if (other != NULL &&
	    (!is_plain(rule) || other < rule || repeated_guard(lint, other) != rule))
		problems_add(lint->problems, PROBLEM_WARNING, "redundant",
			     place(lint, rule, "effect", NULL),
			     "rule %s changes nothing: rule %s (%s) takes all of it away already",
			     rule->id, other->id, other->at);
}

int policy_lint(int workspace_fd, const struct bundle *bundle, const struct json *json,
		struct problems *problems, struct err *err)
{
	CLEANUP(problems_clear) struct problems said_already = PROBLEMS_INIT;
	CLEANUP(scope_files_clear) struct scope_files files = {0};
	struct lint lint = {bundle, json, &files, problems};

	if (bundle->rule_count > LINT_RULES_MAX)
		return 1;
	if (scope_files_load(workspace_fd, &files, &said_already, err) < 0)
		return -1;
	for (size_t i = 0; i < bundle->rule_count; i++) {
		if (bundle->rules[i].effect == EFFECT_ALLOW)
			lint_allow(&lint, &bundle->rules[i]);
		else
			lint_guard(&lint, &bundle->rules[i]);
	}
	return 0;
}
