/* Random statements over restricted tables give the same as over a database that holds only what
 * may be seen, and nothing they say holds a value that is kept back. WRIT_SEED chooses another run,
 * WRIT_STATEMENTS a longer one. */
#include "tests/lib/sqlite_fixture.h"

#include "base/buf.h"
#include "base/crypto.h"

#define STATEMENTS 400

/* What is kept back holds "hid", or is a number from 700000 on. */
#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

#define FULL_SQL                                                                                   \
	"CREATE TABLE orders(order_id INTEGER PRIMARY KEY, customer_id INTEGER, region TEXT,"      \
	" state TEXT, amount INTEGER);"                                                            \
	"CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, name TEXT, note TEXT,"            \
	" phone TEXT, mail TEXT, city TEXT);"                                                      \
	"CREATE TABLE items(order_id INTEGER, line INTEGER, sku TEXT, PRIMARY KEY(order_id,"       \
	" line));"                                                                                 \
	"CREATE INDEX by_state ON orders(state, amount);"                                          \
	"CREATE INDEX by_upper ON orders(upper(state));"                                           \
	"CREATE INDEX by_part ON orders(amount) WHERE region <> 'EMEA';"                           \
	"CREATE UNIQUE INDEX by_name ON customers(name, customer_id);"                             \
	"CREATE INDEX by_city ON customers(city);"

/* The masked columns have no affinity, as what a function gives has none. */
#define SEEN_SQL                                                                                   \
	"CREATE TABLE orders(order_id INTEGER PRIMARY KEY, customer_id INTEGER, state TEXT,"       \
	" amount INTEGER);"                                                                        \
	"CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, name, note, phone, mail,"         \
	" city TEXT);"                                                                             \
	"CREATE TABLE items(order_id INTEGER, line INTEGER, sku TEXT, PRIMARY KEY(order_id,"       \
	" line));"

#define FUNCTIONS                                                                                  \
	"\"functions\":[\"count\",\"sum\",\"min\",\"max\",\"total\",\"length\",\"upper\",\"abs\"," \
	"\"coalesce\",\"typeof\",\"substr\",\"instr\",\"like\",\"glob\",\"json_extract\","         \
	"\"json_each\",\"row_number\",\"->>\"]"

#define RESTRICTED                                                                                 \
	"{\"tables\":{\"orders\":[\"order_id\",\"customer_id\",\"state\",\"amount\"],"             \
	"\"customers\":\"all\",\"items\":\"all\"}," FUNCTIONS ","                                  \
	"\"rows\":{\"orders\":[{\"column\":\"region\",\"constraint_type\":\"one_of\",\"values\":"  \
	"[\"EMEA\",\"APAC\"]}],\"customers\":[{\"column\":\"city\",\"constraint_type\":"           \
	"\"not_one_of\",\"excluded\":[\"hidden town\"]},{\"column\":\"customer_id\","              \
	"\"constraint_type\":\"range\",\"min\":1,\"max\":20}]},"                                   \
	"\"masks\":{\"customers\":{\"name\":\"hash\",\"note\":\"redact\",\"phone\":\"last4\","     \
	"\"mail\":\"null\"}},\"mask_key\":\"" KEY "\"}"

/* Of orders a column is hidden in the one, so in both its columns have to be named. */
#define WIDE "{\"rows\":100000,\"bytes\":3000000,\"scan_bytes\":268435456,\"time_ms\":5000}"

#define OPEN                                                                                       \
	"{\"tables\":{\"orders\":[\"order_id\",\"customer_id\",\"state\",\"amount\"],"             \
	"\"customers\":\"all\",\"items\":\"all\"}," FUNCTIONS "}"

struct pair {
	struct fixture full, seen;
	uint64_t random;
	size_t a, b;   /* the tables of the SELECT that is being made */
	bool joined;   /* there is a b */
	bool star;     /* so two columns give no whole order */
	bool may_fail; /* the statement calls what fails on some values */
};

static uint32_t next(struct pair *pair, uint32_t below)
{
	pair->random = pair->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(pair->random >> 33) % below;
}

#define PICK(pair, list) ((list)[next(pair, ARRAY_LEN(list))])

static void add_orders(struct pair *pair, struct buf *full, struct buf *seen)
{
	static const char *const regions[] = {"'EMEA'", "'APAC'", "'emea'", "'hid'", "NULL"};
	static const char *const states[] = {"'open'", "'sent'", "NULL", "'x7'"};

	for (int i = 1; i <= 60; i++) {
		const char *region = PICK(pair, regions);
		const char *state = PICK(pair, states);
		uint32_t customer = 1 + next(pair, 26), amount = next(pair, 9) * 100;

		if (strcmp(region, "'EMEA'") == 0 || strcmp(region, "'APAC'") == 0) {
			buf_addf(seen, "INSERT INTO orders VALUES (%d,%u,%s,%u);", i, customer,
				 state, amount);
			buf_addf(full, "INSERT INTO orders VALUES (%d,%u,%s,%s,%u);", i, customer,
				 region, state, amount);
		} else {
			buf_addf(full, "INSERT INTO orders VALUES (%d,%u,%s,'hid%d',%u);",
				 700000 + i, customer, region, i % 5, 700000 + amount);
		}
		buf_addf(full, "INSERT INTO items VALUES (%d,%u,'W-%u');", i, amount, amount);
		buf_addf(seen, "INSERT INTO items VALUES (%d,%u,'W-%u');", i, amount, amount);
	}
}

static void hashed(const char *text, char *hex)
{
	uint8_t key[32], digest[32];
	struct err err;

	assert_int_equal(hex_read(KEY, 64, key, sizeof(key), &err), 0);
	blake2b_256(text, strlen(text), key, sizeof(key), digest);
	hex_write(digest, 8, hex);
}

static void add_customers(struct pair *pair, struct buf *full, struct buf *seen)
{
	static const char *const towns[] = {"'Kiel'", "'Bonn'", "'Kiel'", "'hidden town'", "NULL"};

	for (int i = 1; i <= 26; i++) {
		const char *town = PICK(pair, towns);
		char name[32], hex[33];

		snprintf(name, sizeof(name), "hid name %d", i % 7);
		hashed(name, hex);
		buf_addf(full,
			 "INSERT INTO customers VALUES (%d,'%s',%s,'hid 700%d',"
			 "'hid@x%d',%s);",
			 i, name, i % 3 ? "'hid note'" : "NULL", 1000 + i % 4, i, town);
		if (strcmp(town, "NULL") == 0 || strcmp(town, "'hidden town'") == 0 || i > 20)
			continue;
		buf_addf(seen, "INSERT INTO customers VALUES (%d,'%s',%s,'****%d',NULL,%s);", i,
			 hex, i % 3 ? "'[redacted]'" : "NULL", 1000 + i % 4, town);
	}
}

static int setup(void **state)
{
	struct pair *pair = mem_alloc(sizeof(*pair));
	struct buf full = BUF_INIT, seen = BUF_INIT;
	const char *seed = getenv("WRIT_SEED");

	pair->random = seed ? strtoull(seed, NULL, 10) : 1;
	buf_add_str(&full, FULL_SQL);
	buf_add_str(&seen, SEEN_SQL);
	add_orders(pair, &full, &seen);
	add_customers(pair, &full, &seen);
	buf_add_str(&full, "ANALYZE;");
	fixture_open(&pair->full, buf_str(&full));
	fixture_open(&pair->seen, buf_str(&seen));
	pair->full.view = RESTRICTED;
	pair->seen.view = OPEN;
	buf_clear(&full);
	buf_clear(&seen);
	*state = pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	fixture_close(&pair->full);
	fixture_close(&pair->seen);
	mem_free(pair);
	return 0;
}

/* Spelled in every way, and one that only some statements define. */
static const char *table_name(struct pair *pair, size_t which)
{
	static const char *const names[][6] = {
		{"orders", "\"Orders\"", "ORDERS", "[orders]", "`orders`", "temp.orders"},
		{"customers", "customers", "Customers", "\"CUSTOMERS\"", "[Customers]",
		 "customers"},
		{"items", "items", "ITEMS", "\"items\"", "main.items", "items"},
		{"recent", "recent", "Recent", "\"recent\"", "main.orders", "recent"},
	};

	return PICK(pair, names[which]);
}

static size_t pick_table(struct pair *pair)
{
	return next(pair, 12) ? next(pair, 3) : 3;
}

/* A column of that table, now and then of another. */
static const char *column_of(struct pair *pair, size_t which)
{
	static const char *const names[][6] = {
		{"order_id", "customer_id", "state", "amount", "\"AMOUNT\"", "state"},
		{"customer_id", "name", "note", "phone", "mail", "city"},
		{"order_id", "line", "sku", "order_id", "line", "sku"},
		{"p", "p", "region", "oid", "order_id", "p"},
	};

	return PICK(pair, names[next(pair, 40) ? which : next(pair, 4)]);
}

/* a and b are the tables of the innermost SELECT. */
static void add_column(struct pair *pair, struct buf *sql)
{
	if (pair->joined && next(pair, 2))
		buf_addf(sql, "b.%s", column_of(pair, pair->b));
	else
		buf_addf(sql, "%s%s", pair->joined || next(pair, 4) == 0 ? "a." : "",
			 column_of(pair, pair->a));
}

static void add_select(struct pair *pair, struct buf *sql, int depth);

static void add_value(struct pair *pair, struct buf *sql, int depth)
{
	static const char *const calls[] = {"length", "upper", "typeof", "abs"};
	static const char *const values[] = {
		"1",	  "100",	"700100",	"'open'", "'hid3'", "NULL",
		"'Kiel'", "'****1001'", "'hid name 3'", "'7'",	  "7"};

	size_t other;

	switch (next(pair, depth > 0 ? 9 : 5)) {
	case 0:
		buf_add_str(sql, PICK(pair, values));
		return;
	case 5:
		buf_addf(sql, "%s(", PICK(pair, calls));
		add_value(pair, sql, depth - 1);
		buf_add_char(sql, ')');
		return;
	case 6:
		buf_add_str(sql, "CASE WHEN ");
		add_value(pair, sql, depth - 1);
		buf_add_str(sql, " THEN ");
		add_value(pair, sql, depth - 1);
		buf_add_str(sql, " ELSE 0 END");
		return;
	case 7:
		other = pick_table(pair);
		buf_addf(sql, "(SELECT COUNT(*) FROM %s x WHERE x.%s = ", table_name(pair, other),
			 column_of(pair, other));
		add_column(pair, sql);
		buf_add_char(sql, ')');
		return;
	case 8:
		pair->may_fail = true;
		buf_add_str(sql, "coalesce(json_extract('{}', ");
		add_value(pair, sql, depth - 1);
		buf_add_str(sql, "), 1)");
		return;
	default:
		add_column(pair, sql);
	}
}

static void add_condition(struct pair *pair, struct buf *sql, int depth)
{
	static const char *const signs[] = {" = ",  " < ",    " >= ",	 " IS ",
					    " <> ", " LIKE ", " IN (1, "};
	const char *sign = PICK(pair, signs);

	if (depth > 0 && next(pair, 3) == 0) {
		buf_add_str(sql, next(pair, 4) ? "(" : "NOT (");
		add_condition(pair, sql, depth - 1);
		buf_add_str(sql, next(pair, 2) ? " AND " : " OR ");
		add_condition(pair, sql, depth - 1);
		buf_add_char(sql, ')');
		return;
	}
	if (depth > 0 && next(pair, 8) == 0) {
		buf_addf(sql, "%s (", next(pair, 2) ? "EXISTS" : "NOT EXISTS");
		add_select(pair, sql, 0);
		buf_add_char(sql, ')');
		return;
	}
	if (next(pair, 6) == 0) { /* served by an index of one of them, and it fails and says why */
		const char *column = column_of(pair, pair->a);

		pair->may_fail = true;
		buf_addf(sql, "a.%s > '' AND json_extract('{}', a.%s || '') IS NULL", column,
			 column);
		return;
	}
	add_value(pair, sql, depth);
	buf_add_str(sql, sign);
	add_value(pair, sql, depth);
	buf_add_str(sql, strchr(sign, '(') ? ")" : "");
}

static void add_join(struct pair *pair, struct buf *sql)
{
	static const char *const joins[] = {"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "JOIN"};
	const char *table = table_name(pair, pair->b);

	switch (next(pair, 4)) {
	case 0:
		buf_addf(sql, " NATURAL %s %s b", PICK(pair, joins), table);
		return;
	case 1:
		buf_addf(sql, " %s %s b USING (%s)", PICK(pair, joins), table,
			 pair->a == 2 || pair->b == 2 ? "order_id" : "customer_id");
		return;
	default:
		buf_addf(sql, " %s %s b ON a.%s = b.%s AND ", PICK(pair, joins), table,
			 column_of(pair, pair->a), column_of(pair, pair->b));
		add_condition(pair, sql, 0);
	}
}

static void add_columns(struct pair *pair, struct buf *sql, int depth)
{
	static const char *const adding[] = {"COUNT(*)", "SUM", "MIN", "MAX", "COUNT", "COUNT"};
	const char *call = PICK(pair, adding);

	if (next(pair, 10) == 0) {
		pair->star = true;
		buf_add_str(sql, next(pair, 2) ? "a.*" : "*");
		return;
	}
	if (next(pair, 3) == 0) {
		buf_add_str(sql, call);
		buf_add_str(sql, strchr(call, '(') ? "" : "(");
		if (!strchr(call, '('))
			add_column(pair, sql);
		buf_add_str(sql, strchr(call, '(') ? ", 1" : "), 1");
		return;
	}
	add_value(pair, sql, depth);
	buf_add_str(sql, " AS p, ");
	if (next(pair, 6)) {
		add_value(pair, sql, depth);
		return;
	}
	buf_add_str(sql, "COUNT(*) OVER (PARTITION BY ");
	add_column(pair, sql);
	buf_add_char(sql, ')');
}

static void add_select(struct pair *pair, struct buf *sql, int depth)
{
	size_t a = pair->a, b = pair->b;
	bool joined = pair->joined;
	bool inner = depth > 0 && next(pair, 6) == 0;

	pair->a = inner ? 3 : pick_table(pair);
	pair->b = pick_table(pair);
	pair->joined = next(pair, 3) == 0;
	buf_add_str(sql, next(pair, 6) ? "SELECT " : "SELECT DISTINCT ");
	add_columns(pair, sql, depth);
	if (inner) {
		buf_add_str(sql, " FROM (");
		add_select(pair, sql, depth - 1);
		buf_add_str(sql, ") a");
	} else {
		buf_addf(sql, " FROM %s a", table_name(pair, pair->a));
	}
	if (pair->joined)
		add_join(pair, sql);
	if (next(pair, 3)) {
		buf_add_str(sql, " WHERE ");
		add_condition(pair, sql, depth);
	}
	pair->a = a;
	pair->b = b;
	pair->joined = joined;
}

static void add_statement(struct pair *pair, struct buf *sql)
{
	static const char *const compounds[] = {"UNION", "UNION ALL", "INTERSECT", "EXCEPT"};
	static const char *const names[] = {"recent", "orders", "\"customers\"", "Items"};

	pair->may_fail = pair->star = false;
	if (next(pair, 3) == 0) {
		buf_addf(sql, "WITH %s AS (", PICK(pair, names));
		add_select(pair, sql, 1);
		buf_add_str(sql, ") ");
	}
	add_select(pair, sql, 2);
	if (next(pair, 6) == 0) {
		buf_addf(sql, " %s ", PICK(pair, compounds));
		add_select(pair, sql, 1);
	}
	if (!pair->star && next(pair, 3) == 0)
		buf_addf(sql, " ORDER BY 1, 2 LIMIT %u", 1 + next(pair, 4) * 100);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The rows in an order of their own, since a statement without ORDER BY promises none. */
static char *sorted_rows(const struct json *result)
{
	const struct json *rows = json_get(result, "rows");
	size_t count = json_len(rows);
	CLEANUP(mem_freep) char **texts = mem_array(count + 1, sizeof(*texts));
	struct buf all = BUF_INIT;

	for (size_t i = 0; i < count; i++)
		texts[i] = text_of(json_at(rows, i));
	qsort(texts, count, sizeof(*texts), by_text);
	for (size_t i = 0; i < count; i++) {
		buf_addf(&all, "%s\n", texts[i]);
		mem_free(texts[i]);
	}
	return buf_take(&all);
}

/* A value of the statement itself may come back. */
static void assert_nothing_hidden(const struct json *result, const char *sql)
{
	static const char *const values[] = {"hid0",	"hid1", "hid2",	  "hid4",  "hid note",
					     "hid 700", "hid@", "hidden", "70000", "7002",
					     "7003",	"7004", "region", "by_"};
	CLEANUP(mem_freep) char *text = text_of(result);

	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		if (strstr(text, values[i]) && !strstr(sql, values[i]))
			fail_msg("%s\nshows %s in %s", sql, values[i], text);
}

static bool compare(struct pair *pair, const char *sql)
{
	CLEANUP(json_freep) struct json *full = fixture_execute(&pair->full, sql, "run", WIDE);
	CLEANUP(json_freep) struct json *seen = fixture_execute(&pair->seen, sql, "run", WIDE);
	CLEANUP(json_freep) struct json *plan = fixture_execute(&pair->full, sql, "explain", WIDE);
	CLEANUP(mem_freep) char *full_text = text_of(full);
	CLEANUP(mem_freep) char *seen_text = text_of(seen);
	CLEANUP(mem_freep) char *full_rows = sorted_rows(full);
	CLEANUP(mem_freep) char *seen_rows = sorted_rows(seen);
	bool ok = json_get_bool(full, "ok", false);

	json_remove(full, "hidden"); /* for the broker alone */
	json_remove(plan, "hidden");
	json_remove(full, "bytes_scanned");
	json_remove(full, "latency_ms");
	json_remove(plan, "bytes_estimated");
	json_remove(plan, "shape");
	assert_nothing_hidden(full, sql);
	assert_nothing_hidden(plan, sql);
	if (strstr(sql, "oid")) /* a filtered table has no row numbers */
		return ok;
	if (ok != json_get_bool(seen, "ok", false) && !pair->may_fail)
		fail_msg("%s\nrestricted: %s\nseen: %s", sql, full_text, seen_text);
	if (ok && json_get_bool(seen, "ok", false) && strcmp(full_rows, seen_rows) != 0)
		fail_msg("%s\nrestricted: %s\nseen: %s", sql, full_text, seen_text);
	return ok;
}

static void test_random_statements_see_what_may_be_seen_and_nothing_else(void **state)
{
	struct pair *pair = *state;
	const char *given = getenv("WRIT_STATEMENTS");
	long count = given ? strtol(given, NULL, 10) : STATEMENTS;
	long answered = 0;

	for (long i = 0; i < count; i++) {
		struct buf sql = BUF_INIT;

		add_statement(pair, &sql);
		answered += compare(pair, buf_str(&sql));
		buf_clear(&sql);
	}
	if (answered < count / 10) /* a grammar that only makes errors would prove nothing */
		fail_msg("only %ld of %ld were answered", answered, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_random_statements_see_what_may_be_seen_and_nothing_else, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
