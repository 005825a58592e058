/* See call_spec.h. Pure. The facts point into a copy of the JSON, which the spec owns. */
#include "policy/call_spec.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

const char *const call_spec_keys[] = {"agent",	     "user",	  "groups",    "tenant",
				      "attributes",  "tool",	  "database",  "tables",
				      "columns",     "functions", "arguments", "time",
				      "environment", "approved",  NULL};

struct call_spec {
	struct json *json;
	struct call_facts facts;
	const char **groups;
	const char **tables;
	const char **columns;
	const char **functions;
	const char **approved;
	char **made; /* texts that stand nowhere in the JSON */
	size_t made_count;
};

void call_spec_free(struct call_spec *spec)
{
	if (spec == NULL)
		return;
	for (size_t i = 0; i < spec->made_count; i++)
		mem_free(spec->made[i]);
	mem_free(spec->made);
	mem_free(spec->groups);
	mem_free(spec->tables);
	mem_free(spec->columns);
	mem_free(spec->functions);
	mem_free(spec->approved);
	json_free(spec->json);
	mem_free(spec);
}

void call_spec_freep(struct call_spec **spec)
{
	call_spec_free(*spec);
}

const struct call_facts *call_spec_facts(const struct call_spec *spec)
{
	return &spec->facts;
}

static const char *make_text(struct call_spec *spec, char *text)
{
	spec->made = mem_grow(spec->made, (spec->made_count + 1) * sizeof(*spec->made));
	spec->made[spec->made_count++] = text;
	return text;
}

/* more: places to leave free behind the names. */
static int read_names(const struct json *json, const char *key, size_t more,
		      const char ***ret_items, struct names *ret_names, struct err *err)
{
	const struct json *list = json_get(json, key);
	size_t count = 0;

	if (list != NULL && json_type(list) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "%s must be a list", key);
	if (json_len(list) > FACT_NAMES_MAX)
		return err_set(err, ERR_INVALID, "%s has more than %u names", key, FACT_NAMES_MAX);
	*ret_items = mem_array(json_len(list) + more + 1, sizeof(**ret_items));
	json_each(item, list)
	{
		if (json_str(item) == NULL || json_str(item)[0] == '\0')
			return err_set(err, ERR_INVALID, "%s holds something that is no name", key);
		(*ret_items)[count++] = json_str(item);
	}
	*ret_names = (struct names){*ret_items, count};
	return 0;
}

static bool has_table(const struct names *tables, const char *name, size_t len)
{
	for (size_t i = 0; i < tables->count; i++)
		if (strncmp(tables->items[i], name, len) == 0 && tables->items[i][len] == '\0')
			return true;
	return false;
}

/* A column's table is touched too. */
static int add_tables(struct call_spec *spec, struct err *err)
{
	struct names *tables = &spec->facts.tables;
	const struct names *columns = &spec->facts.columns;

	for (size_t i = 0; i < columns->count; i++) {
		const char *name = columns->items[i];
		const char *dot = strchr(name, '.');

		if (dot == NULL || dot == name || strchr(dot + 1, '.') != NULL)
			return err_set(err, ERR_INVALID,
				       "columns: \"%.100s\" is not written as table.column", name);
		if (!has_table(tables, name, (size_t)(dot - name)))
			spec->tables[tables->count++] =
				make_text(spec, mem_strn(name, (size_t)(dot - name)));
	}
	return 0;
}

/* A table without a column is still touched: "orders.". */
static void add_columns(struct call_spec *spec)
{
	const struct names *tables = &spec->facts.tables;
	struct names *columns = &spec->facts.columns;
	size_t given = columns->count;

	for (size_t t = 0; t < tables->count; t++) {
		size_t len = strlen(tables->items[t]);
		bool read = false;

		for (size_t i = 0; i < given && !read; i++)
			read = strncmp(columns->items[i], tables->items[t], len) == 0 &&
			       columns->items[i][len] == '.';
		if (!read)
			spec->columns[columns->count++] =
				make_text(spec, mem_format("%s.", tables->items[t]));
	}
}

static int read_text(const struct json *json, const char *key, bool needed, const char **ret_text,
		     struct err *err)
{
	const struct json *value = json_get(json, key);

	*ret_text = json_str(value);
	if (value == NULL && needed)
		return err_set(err, ERR_INVALID, "%s is missing", key);
	if (value != NULL && (*ret_text == NULL || (*ret_text)[0] == '\0'))
		return err_set(err, ERR_INVALID, "%s must be a text", key);
	return 0;
}

static int read_object(const struct json *json, const char *key, const struct json **ret_value,
		       struct err *err)
{
	*ret_value = json_get(json, key);
	if (*ret_value != NULL && json_type(*ret_value) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "%s must be a map", key);
	return 0;
}

/* "2026-10-15T10:00:00Z", also with fractions of a second, always in UTC. */
static int read_time(const struct json *json, int64_t *ret_seconds, struct err *err)
{
	CLEANUP(buf_clear) struct buf whole = BUF_INIT;
	const char *text;
	int64_t time_us;

	if (read_text(json, "time", false, &text, err) < 0)
		return -1;
	if (text == NULL)
		return 0;
	buf_add_str(&whole, text);
	if (strlen(text) == strlen("2026-10-15T10:00:00Z") && text[strlen(text) - 1] == 'Z') {
		buf_reset(&whole);
		buf_addf(&whole, "%.19s.000000Z", text);
	}
	if (timestamp_read(buf_str(&whole), &time_us, NULL) < 0)
		return err_set(err, ERR_INVALID,
			       "time \"%.40s\" is not written as 2026-10-15T10:00:00Z", text);
	*ret_seconds = time_us / 1000000;
	return 0;
}

static int read_setting(struct call_spec *spec, struct err *err)
{
	struct call_facts *facts = &spec->facts;

	return read_object(spec->json, "attributes", &facts->subject.attributes, err) < 0 ||
			       read_object(spec->json, "arguments", &facts->arguments, err) < 0 ||
			       read_time(spec->json, &facts->setting.now_s, err) < 0 ||
			       read_text(spec->json, "environment", false,
					 &facts->setting.environment, err) < 0 ||
			       read_names(spec->json, "approved", 0, &spec->approved,
					  &facts->approved, err) < 0
		       ? -1
		       : 0;
}

static int read_spec(struct call_spec *spec, struct err *err)
{
	struct call_facts *facts = &spec->facts;
	const struct json *json = spec->json;
	size_t columns = json_len(json_get(json, "columns"));
	size_t tables = json_len(json_get(json, "tables"));

	if (json_type(json) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "a call must be a map");
	if (json_only(json, call_spec_keys, err) < 0 ||
	    read_text(json, "agent", true, &facts->agent, err) < 0 ||
	    read_text(json, "user", true, &facts->subject.user, err) < 0 ||
	    read_text(json, "tenant", false, &facts->subject.tenant, err) < 0 ||
	    read_text(json, "tool", true, &facts->tool, err) < 0 ||
	    read_text(json, "database", false, &facts->database, err) < 0 ||
	    read_names(json, "groups", 0, &spec->groups, &facts->subject.groups, err) < 0 ||
	    read_names(json, "tables", columns, &spec->tables, &facts->tables, err) < 0 ||
	    read_names(json, "columns", tables, &spec->columns, &facts->columns, err) < 0 ||
	    read_names(json, "functions", 0, &spec->functions, &facts->functions, err) < 0 ||
	    add_tables(spec, err) < 0 || read_setting(spec, err) < 0)
		return -1;
	add_columns(spec);
	if (facts->database == NULL && facts->tables.count + facts->functions.count > 0)
		return err_set(err, ERR_INVALID, "tables and functions need a database");
	return 0;
}

int call_spec_read(const struct json *json, struct call_spec **ret_spec, struct err *err)
{
	CLEANUP(call_spec_freep) struct call_spec *spec = mem_alloc(sizeof(*spec));

	spec->json = json_copy(json);
	if (read_spec(spec, err) < 0)
		return -1;
	*ret_spec = TAKE(spec);
	return 0;
}

static void set_names(struct json *json, const char *key, const struct names *names)
{
	struct json *list;

	if (names->count == 0)
		return;
	list = json_array();
	for (size_t i = 0; i < names->count; i++)
		json_push_str(list, names->items[i]);
	json_set(json, key, list);
}

/* Columns that are read, and tables of which none is. */
static void set_data(struct json *json, const struct call_facts *facts)
{
	struct json *tables = json_array();
	struct json *columns = json_array();

	for (size_t i = 0; i < facts->columns.count; i++) {
		const char *name = facts->columns.items[i];
		size_t len = strlen(name);

		if (len > 0 && name[len - 1] == '.') {
			CLEANUP(mem_freep) char *table = mem_strn(name, len - 1);

			json_push_str(tables, table);
		} else {
			json_push_str(columns, name);
		}
	}
	if (json_len(tables) > 0)
		json_set(json, "tables", TAKE(tables));
	if (json_len(columns) > 0)
		json_set(json, "columns", TAKE(columns));
	json_free(tables);
	json_free(columns);
}

static void set_setting(struct json *json, const struct setting *setting)
{
	char text[TIMESTAMP_LEN + 1];

	if (setting->now_s != 0) {
		timestamp_write(setting->now_s * 1000000, text);
		memcpy(text + strlen("2026-10-15T10:00:00"), "Z", 2);
		json_set_str(json, "time", text);
	}
	if (setting->environment != NULL)
		json_set_str(json, "environment", setting->environment);
}

struct json *call_spec_json(const struct call_facts *facts)
{
	struct json *json = json_object();

	json_set_str(json, "agent", facts->agent);
	json_set_str(json, "user", facts->subject.user);
	set_names(json, "groups", &facts->subject.groups);
	if (facts->subject.tenant != NULL)
		json_set_str(json, "tenant", facts->subject.tenant);
	if (facts->subject.attributes != NULL)
		json_set(json, "attributes", json_copy(facts->subject.attributes));
	json_set_str(json, "tool", facts->tool);
	if (facts->database != NULL)
		json_set_str(json, "database", facts->database);
	set_data(json, facts);
	set_names(json, "functions", &facts->functions);
	if (facts->arguments != NULL)
		json_set(json, "arguments", json_copy(facts->arguments));
	set_setting(json, &facts->setting);
	set_names(json, "approved", &facts->approved);
	return json;
}

static void say_names(struct buf *out, const char *before, const struct json *names)
{
	const char *between = before;

	json_each(name, names)
	{
		buf_addf(out, "%s%s", between, json_str(name));
		between = ", ";
	}
}

static void say_value(struct buf *out, const char *before, const struct json *value)
{
	if (value == NULL)
		return;
	buf_add_str(out, before);
	json_write(value, out);
}

void call_spec_say(const struct call_facts *facts, struct buf *out)
{
	CLEANUP(json_freep) struct json *json = call_spec_json(facts);
	const struct json *groups = json_get(json, "groups");

	buf_addf(out, "%s for %s", facts->agent, facts->subject.user);
	if (groups != NULL || facts->subject.tenant != NULL) {
		buf_add_str(out, " (");
		say_names(out, "groups ", groups);
		if (facts->subject.tenant != NULL)
			buf_addf(out, "%stenant %s", groups != NULL ? "; " : "",
				 facts->subject.tenant);
		buf_add_char(out, ')');
	}
	buf_addf(out, ": %s", facts->tool);
	if (facts->database != NULL)
		buf_addf(out, " on %s", facts->database);
	say_names(out, ", columns ", json_get(json, "columns"));
	say_names(out, ", tables ", json_get(json, "tables"));
	say_names(out, ", functions ", json_get(json, "functions"));
	say_value(out, ", arguments ", json_get(json, "arguments"));
	say_value(out, ", attributes ", json_get(json, "attributes"));
	if (json_get(json, "time") != NULL)
		buf_addf(out, ", at %s", json_get_str(json, "time"));
	if (facts->setting.environment != NULL)
		buf_addf(out, ", in %s", facts->setting.environment);
	say_names(out, ", approved ", json_get(json, "approved"));
}
