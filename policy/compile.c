/*
 * The compiler's frame: scopes first, then the agents of all files, then the rules, which may speak
 * of any agent. Each part reads one piece of YAML strictly (check.h) and adds its JSON; with a
 * single error the JSON is thrown away.
 */
#include "policy/compile.h"

#include <string.h>
#include <strings.h>

#include "policy/bundle_model.h"
#include "policy/compile_parts.h"

static const char *const file_keys[] = {"writ",	 "scope", "owner", "timezone", "agents",
					"lists", "tags",  "rules", NULL};

char *place_of(const struct yaml *node)
{
	return mem_format("%s:%d", yaml_file(node), yaml_line(node));
}

static void check_version(struct compile *compile, const struct yaml *root)
{
	const struct yaml *node =
		check_member(&compile->check, root, "a scope file", "writ", "writ: 1");
	int64_t version;
	struct err err = {0};

	if (node != NULL && yaml_want_int(node, 1, 1, &version, &err) < 0)
		check_fail(&compile->check, "bad_value", node,
			   "writ is the version of the format: write writ: 1");
}

/* Returns the scope's name, NULL when there is none to go by. */
static const char *compile_scope(struct compile *compile, const struct yaml *root)
{
	struct check *check = &compile->check;
	const char *what = "a scope file";
	const struct yaml *node = check_member(check, root, what, "scope", "scope: sales");
	const char *name = check_name(check, node, "scope");
	const char *owner = check_text(
		check, check_member(check, root, what, "owner", "owner: team:sales-data"), "owner");
	const struct yaml *zone_node = yaml_get(root, "timezone");
	const char *zone = zone_node == NULL ? "UTC" : check_timezone(check, zone_node);
	CLEANUP(mem_freep) char *at = NULL;
	const char *known;
	struct json *scope;

	if (name == NULL)
		return NULL;
	at = place_of(node);
	known = json_get_str(json_get(compile->scopes, name), "at");
	if (known != NULL) {
		check_fail(check, "duplicate", node, "scope %s is defined twice, first at %s", name,
			   known);
		return name;
	}
	scope = json_object();
	json_set_str(scope, "at", at);
	json_set_str(scope, "owner", owner);
	json_set_str(scope, "timezone", zone);
	json_set(compile->scopes, name, scope);
	return name;
}

static void compile_file(struct compile *compile, struct scope_file *file)
{
	const char *scope;

	if (!check_map(&compile->check, file->root, "a scope file", file_keys)) {
		yaml_free(file->root);
		file->root = NULL;
		return;
	}
	check_version(compile, file->root);
	scope = compile_scope(compile, file->root);
	compile_agents(compile, yaml_get(file->root, "agents"), scope == NULL ? "?" : scope);
	lists_begin(compile, yaml_get(file->root, "lists"));
	compile_tags(compile, yaml_get(file->root, "tags"));
	mem_free(compile->list_used); /* the rules use lists too, later */
}

/* {"sales":{"orders":["order_id","region"]}} */
static struct json *known_columns(const struct json *catalogs, const struct names *databases)
{
	struct json *known = json_object();

	/* Of a source that could not be read "all" means nothing, until it is compiled again. */
	for (size_t i = 0; databases != NULL && i < databases->count; i++)
		json_set(known, databases->items[i], json_object());

	json_each(catalog, catalogs)
	{
		struct json *tables = json_object();

		json_each(table, json_get(catalog, "tables"))
		{
			struct json *columns = json_array();
			const char *kind = json_get_str(table, "kind");
			bool rowid = kind == NULL || strcmp(kind, "view") != 0;

			json_each(column, json_get(table, "columns"))
			{
				const char *name = json_get_str(column, "name");

				json_push_str(columns, name);
				rowid = rowid && strcasecmp(name, "rowid") != 0;
			}
			/* SQLite's own name of a row, which every table has and no list shows. */
			if (rowid)
				json_push_str(columns, "rowid");
			json_set(tables, json_get_str(table, "name"), columns);
		}
		json_set(known, json_key(catalog), tables);
	}
	return known;
}

static void write_bundle(struct compile *compile, struct buf *out)
{
	struct json *bundle = json_object();

	json_set_int(bundle, "writ_bundle", BUNDLE_VERSION);
	json_set(bundle, "scopes", TAKE(compile->scopes));
	json_set(bundle, "agents", TAKE(compile->agents));
	json_set(bundle, "functions", TAKE(compile->functions));
	json_set(bundle, "rules", TAKE(compile->rules));
	if (json_len(compile->zones) > 0)
		json_set(bundle, "zones", TAKE(compile->zones));
	if (compile->world->catalogs != NULL)
		json_set(bundle, "known",
			 known_columns(compile->world->catalogs, compile->world->databases));
	json_write_canonical(bundle, out);
	json_free(bundle);
}

/* What the compiler writes the broker must be able to read: if not, that is our mistake. */
static int finish(struct compile *compile, struct buf *ret_bundle, struct err *err)
{
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	struct buf bytes = BUF_INIT;

	write_bundle(compile, &bytes);
	if (bundle_read(bytes.bytes, bytes.len, &bundle, err) < 0) {
		buf_clear(&bytes);
		return err_wrap(err, "the compiled policy does not read back");
	}
	buf_clear(ret_bundle);
	*ret_bundle = bytes;
	return 0;
}

static void compile_clear(struct compile *compile)
{
	json_free(compile->scopes);
	json_free(compile->agents);
	json_free(compile->functions);
	json_free(compile->rules);
	json_free(compile->zones);
	json_free(compile->tags);
	for (size_t i = 0; i < compile->rule_place_count; i++)
		mem_free(compile->rule_places[i]);
	mem_free(compile->rule_places);
	symbols_clear(&compile->rule_ids);
	mem_free(compile->agent_names);
	mem_free(compile->agent_nodes);
}

/* Invariants are no rules of the policy: they are compiled only to be proven. */
static void drop_invariants(struct scope_files *files)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (strcmp(files->items[i].path, SCOPE_INVARIANTS) != 0) {
			files->items[kept++] = files->items[i];
			continue;
		}
		mem_free(files->items[i].path);
		yaml_free(files->items[i].root);
	}
	files->count = kept;
}

int policy_compile(int workspace_fd, const struct policy_world *world, struct buf *ret_bundle,
		   struct problems *problems, struct err *err)
{
	static const struct policy_world unknown;
	CLEANUP(scope_files_clear) struct scope_files files = {0};
	CLEANUP(compile_clear)
	struct compile compile = {.check = {problems},
				  .world = world == NULL ? &unknown : world,
				  .scopes = json_object(),
				  .agents = json_object(),
				  .functions = json_object(),
				  .rules = json_array(),
				  .zones = json_object(),
				  .tags = json_object()};

	symbols_init(&compile.rule_ids);
	if (scope_files_load(workspace_fd, &files, problems, err) < 0)
		return -1;
	if (!compile.world->invariants)
		drop_invariants(&files);
	for (size_t i = 0; i < files.count; i++)
		compile_file(&compile, &files.items[i]);
	for (size_t i = 0; i < files.count; i++) {
		const struct yaml *root = files.items[i].root;

		lists_begin(&compile, yaml_get(root, "lists"));
		compile_hands_to(&compile, yaml_get(root, "agents"));
		compile.zone = yaml_text(yaml_get(root, "timezone"));
		compile_rules(&compile, yaml_get(root, "rules"));
		lists_end(&compile);
	}
	problems_sort(problems);
	return problems->error_count > 0 ? 0 : finish(&compile, ret_bundle, err);
}
