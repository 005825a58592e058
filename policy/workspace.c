/*
 * The frame of writ.yaml and its small keys: today, timezone, agents, models, prices, retention,
 * sandbox.
 * Users and sources have files of their own. Everything is read before anything is used, so that
 * one run shows every mistake.
 */
#include "policy/workspace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/fs.h"
#include "policy/guard.h"
#include "policy/policy.h"
#include "policy/workspace_parts.h"
#include "writ/limits.h"

#define WRIT_YAML "writ.yaml"
#define WRIT_YAML_BYTES_MAX (1u << 20)

static const char *const keys[] = {"today",  "timezone",   "users",	  "sources",
				   "agents", "models",	   "prices",	  "sandbox",
				   "roles",  "retention",  "environment", "environments",
				   "audit",  "hang_after", NULL};

static void read_today(struct check *check, const struct yaml *node, struct json *service)
{
	const char *text = node == NULL ? NULL : check_text(check, node, "today");
	struct date date;

	if (text != NULL && date_read(text, &date, NULL) < 0) {
		check_fail(check, "bad_value", node, "today must be a date like 2026-10-15");
		text = NULL;
	}
	json_set_str(service, "today", text);
}

static void read_sandbox(struct check *check, const struct yaml *node, struct json *service)
{
	static const char *const words[] = {"full", "reduced"};
	const char *level = node == NULL
				    ? "full"
				    : check_word(check, node, "sandbox", (struct words){words, 2});

	json_set_str(service, "sandbox", level);
}

static void read_agents(struct check *check, const struct yaml *root, struct json *service)
{
	static const char *const roles[] = {"query", "report", NULL};
	const struct yaml *node =
		check_member(check, root, WRIT_YAML, "agents",
			     "agents: {query: sales-query-01, report: sales-report-01}");
	struct json *agents = json_object();

	if (node != NULL && check_map(check, node, "agents", roles))
		for (size_t i = 0; roles[i] != NULL; i++)
			json_set_str(agents, roles[i],
				     check_name(check,
						check_member(check, node, "agents", roles[i],
							     i == 0 ? "query: sales-query-01"
								    : "report: sales-report-01"),
						"an agent"));
	json_set(service, "agents", agents);
}

static void read_models(struct check *check, const struct yaml *node, struct json *service)
{
	static const char *const uses[] = {"plan", "report", NULL};
	static const char *const providers[] = {"builtin"};
	struct json *models = json_object();
	bool given = node != NULL && check_map(check, node, "models", uses);

	for (size_t i = 0; uses[i] != NULL; i++) {
		const struct yaml *value = given ? yaml_get(node, uses[i]) : NULL;

		json_set_str(models, uses[i],
			     value == NULL ? "builtin"
					   : check_word(check, value, "model",
							(struct words){providers, 1}));
	}
	json_set(service, "models", models);
}

/* "5 USD/TB", "0.25 USD/TiB": at most six decimals. -1 when of another form. */
static int read_price(const char *text, struct words units, int64_t *ret_micros,
		      const char **ret_per)
{
	size_t whole = strspn(text, "0123456789");
	size_t decimals = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
	const char *rest = text + whole + (text[whole] == '.' ? 1 + decimals : 0);
	int64_t micros = 0;

	if (whole == 0 || whole > 9 || decimals > 6 || (text[whole] == '.' && decimals == 0) ||
	    strncmp(rest, " USD/", 5) != 0)
		return -1;
	for (size_t i = 0; i < whole; i++)
		micros = micros * 10 + (text[i] - '0');
	for (size_t i = 0; i < 6; i++)
		micros = micros * 10 + (i < decimals ? text[whole + 1 + i] - '0' : 0);
	for (size_t i = 0; i < units.count; i++)
		if (strcmp(rest + 5, units.items[i]) == 0) {
			*ret_micros = micros;
			*ret_per = units.items[i];
			return 0;
		}
	return -1;
}

static void read_one_price(struct check *check, const struct yaml *node, const char *kind,
			   struct json *prices)
{
	static const char *const bytes[] = {"GB", "GiB", "TB", "TiB"}, *const tokens[] = {
									       "million"};
	bool scan = strcmp(kind, "scan") == 0;
	const char *text = check_text(check, node, scan ? "the price of scanning" : "a price");
	struct words units = {scan ? bytes : tokens, scan ? ARRAY_LEN(bytes) : ARRAY_LEN(tokens)};
	struct json *price;
	int64_t micros;
	const char *per;

	if (text == NULL)
		return;
	if (read_price(text, units, &micros, &per) < 0) {
		check_fail(check, "bad_value", node,
			   scan ? "a price is written like \"5 USD/TB\": an amount, USD, and per "
				  "GB, GiB, TB or TiB"
				: "a price of tokens is written like \"5 USD/million\"");
		return;
	}
	price = json_object();
	json_set_int(price, "micros", micros);
	json_set_str(price, "per", per);
	json_set(prices, kind, price);
}

static void read_prices(struct check *check, const struct yaml *node, struct json *service)
{
	static const char *const kinds[] = {"scan", "input_tokens", "output_tokens", NULL};
	struct json *prices = json_object();
	bool given = node != NULL && check_map(check, node, "prices", kinds);

	for (size_t i = 0; given && kinds[i] != NULL; i++)
		read_one_price(check, yaml_get(node, kinds[i]), kinds[i], prices);
	json_set(service, "prices", prices);
}

#define RETENTION_DEFAULT_MS (90LL * 24 * 3600 * 1000) /* a quarter */
#define RETENTION_MAX_MS (87600LL * 3600 * 1000)       /* ten years */

/* How long the task store keeps a question and its answer. */
static void read_retention(struct check *check, const struct yaml *node, struct json *service)
{
	static const char *const kinds[] = {"tasks", NULL};
	bool given = node != NULL && check_map(check, node, "retention", kinds);
	const struct yaml *tasks = given ? yaml_get(node, "tasks") : NULL;
	struct json *retention = json_object();
	int64_t keep_ms = RETENTION_DEFAULT_MS;

	if (tasks != NULL)
		check_duration_ms(check, tasks, "the retention of tasks", RETENTION_MAX_MS,
				  &keep_ms);
	json_set_int(retention, "tasks_s", keep_ms / 1000);
	json_set(service, "retention", retention);
}

/* How long a program may be silent before it is taken for hung. */
static void read_hang_after(struct check *check, const struct yaml *node, struct json *service)
{
	int64_t ms = WRIT_HANG_AFTER_MS_DEFAULT;

	if (node != NULL &&
	    check_duration_ms(check, node, "hang_after", WRIT_HANG_AFTER_MS_MAX, &ms) &&
	    ms < WRIT_HANG_AFTER_MS_MIN)
		check_fail(check, "bad_value", node, "hang_after is at least %d s",
			   WRIT_HANG_AFTER_MS_MIN / 1000);
	json_set_int(service, "hang_after_ms", ms);
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Names as written, also of sources with mistakes: a rule that speaks of one is no mistake. */
static void list_sources(struct workspace *workspace)
{
	const struct yaml *node = yaml_get(workspace->root, "sources");

	if (yaml_kind(node) != YAML_MAP)
		return;
	workspace->sources = mem_array(yaml_len(node), sizeof(*workspace->sources));
	for (size_t i = 0; i < yaml_len(node); i++)
		workspace->sources[workspace->source_count++] = yaml_text(yaml_key(node, i));
	if (workspace->source_count > 0)
		qsort(workspace->sources, workspace->source_count, sizeof(*workspace->sources),
		      compare_names);
}

/* All environments this policy runs in, and which one this workspace is: rules may name only
 * these, so that a misspelt one cannot be a rule that never holds. */
static void read_environments(struct workspace *workspace, struct check *check)
{
	const struct yaml *list = yaml_get(workspace->root, "environments");
	const struct yaml *node = yaml_get(workspace->root, "environment");
	struct words words;

	json_set_str(workspace->setting, "environment", NULL);
	if (list == NULL && node == NULL)
		return;
	list = check_member(check, workspace->root, WRIT_YAML, "environments",
			    "environments: [staging, production]");
	node = check_member(check, workspace->root, WRIT_YAML, "environment",
			    "environment: staging");
	if (list == NULL || !check_list(check, list, "environments"))
		return;
	workspace->environments = mem_array(yaml_len(list), sizeof(const char *));
	for (size_t i = 0; i < yaml_len(list); i++) {
		const char *name = check_name(check, yaml_at(list, i), "an environment");

		if (name != NULL)
			workspace->environments[workspace->environment_count++] = name;
	}
	words = (struct words){workspace->environments, workspace->environment_count};
	if (node != NULL)
		json_set_str(workspace->setting, "environment",
			     check_word(check, node, "environment", words));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void read_keys(struct workspace *workspace, struct check *check, const char *path, int flags)
{
	const struct yaml *root = workspace->root;
	struct json *service = workspace->service;
	const struct yaml *zone = yaml_get(root, "timezone");
	struct json *roles;

	json_set_str(service, "workspace", path);
	json_set_str(service, "name", base_name(path));
	read_today(check, yaml_get(root, "today"), service);
	json_set_str(service, "timezone", zone == NULL ? "UTC" : check_timezone(check, zone));
	read_agents(check, root, service);
	json_set(service, "sources",
		 workspace_sources(check,
				   check_member(check, root, WRIT_YAML, "sources",
						"sources: {sales: {sqlite: data/sales.db}}"),
				   path, flags));
	read_models(check, yaml_get(root, "models"), service);
	read_prices(check, yaml_get(root, "prices"), service);
	read_retention(check, yaml_get(root, "retention"), service);
	read_sandbox(check, yaml_get(root, "sandbox"), service);
	read_hang_after(check, yaml_get(root, "hang_after"), service);
	json_free(workspace->audit);
	workspace->audit = workspace_audit(check, yaml_get(root, "audit"), service);
	roles = workspace_roles(check, yaml_get(root, "roles"));
	if (roles != NULL)
		json_set(service, "roles", roles);
	read_environments(workspace, check);
	workspace_users(check, yaml_get(root, "users"), workspace->users);
}

static void load(int workspace_fd, uid_t owner, struct yaml **ret_root, struct problems *problems)
{
	struct buf bytes = BUF_INIT;
	struct err err = {0};

	if (guard_file(workspace_fd, WRIT_YAML, WRIT_YAML, owner, &err) < 0)
		problems_add_err(problems, "unreadable", &err);
	else if (file_read_at(workspace_fd, WRIT_YAML, WRIT_YAML_BYTES_MAX, &bytes, &err) < 0)
		problems_add_err(problems, "unreadable", &err);
	else if (yaml_parse(WRIT_YAML, buf_str(&bytes), bytes.len, ret_root, &err) < 0)
		problems_add_err(problems, "yaml", &err);
	buf_clear(&bytes);
}

int workspace_read(int workspace_fd, const char *path, int flags, struct workspace *ret_workspace,
		   struct problems *problems, struct err *err)
{
	struct workspace workspace = {.users = json_object(),
				      .service = json_object(),
				      .setting = json_object(),
				      .audit = json_object()};
	struct check check = {problems};
	struct stat info;

	if (path_check_owned(path, err) < 0 || fstat(workspace_fd, &info) < 0) {
		workspace_clear(&workspace);
		return err_wrap(err, "the workspace");
	}
	load(workspace_fd, info.st_uid, &workspace.root, problems);
	json_set_int(workspace.users, "owner_uid", info.st_uid);
	if (workspace.root != NULL && check_map(&check, workspace.root, WRIT_YAML, keys)) {
		list_sources(&workspace);
		read_keys(&workspace, &check, path, flags);
	}
	*ret_workspace = workspace;
	return 0;
}

void workspace_clear(struct workspace *workspace)
{
	yaml_free(workspace->root);
	json_free(workspace->users);
	json_free(workspace->service);
	json_free(workspace->setting);
	mem_free(workspace->environments);
	json_free(workspace->audit);
	mem_free(workspace->sources);
	*workspace = (struct workspace){0};
}

static void check_agent(struct check *check, const struct yaml *node, const char *role,
			const struct bundle *bundle)
{
	size_t count = bundle_agent_count(bundle);
	CLEANUP(mem_freep) const char **names = mem_array(count, sizeof(*names));
	const struct agent_def *agent;
	const char *name;

	for (size_t i = 0; i < count; i++)
		names[i] = bundle_agent_at(bundle, i)->name;
	if (yaml_text(node) == NULL)
		return; /* missing: said already */
	name = check_word(check, node, "agent", (struct words){names, count});
	agent = name == NULL ? NULL : bundle_agent(bundle, name);
	if (agent != NULL && strcmp(agent->role, role) != 0)
		check_fail(check, "bad_value", node, "agent %s has the role %s (%s), not %s", name,
			   agent->role, agent->at, role);
}

void workspace_check_agents(const struct workspace *workspace, const struct bundle *bundle,
			    struct problems *problems)
{
	struct check check = {problems};
	const struct yaml *agents = yaml_get(workspace->root, "agents");

	check_agent(&check, yaml_get(agents, "query"), "query", bundle);
	check_agent(&check, yaml_get(agents, "report"), "report", bundle);
}
