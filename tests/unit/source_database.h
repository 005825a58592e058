/* The tables of fx_scope in a real SQLite file, in a folder of their own. */
#ifndef TEST_SOURCE_DATABASE_H
#define TEST_SOURCE_DATABASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>

static char database[128];

static int make_database(void **state)
{
	static char folder[] = "/tmp/writ-source-XXXXXX";
	sqlite3 *sqlite = NULL;

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(database, sizeof(database), "%s/sales.db", folder);
	if (sqlite3_open(database, &sqlite) != SQLITE_OK ||
	    sqlite3_exec(
		    sqlite,
		    "CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, name TEXT,"
		    " region TEXT);"
		    "CREATE TABLE orders(order_id INTEGER PRIMARY KEY, customer_id INTEGER);"
		    "CREATE TABLE payroll(employee_id INTEGER, salary INTEGER);"
		    "INSERT INTO customers VALUES (1,'Ada','East'),(2,'Bo','West');"
		    "INSERT INTO orders VALUES (10,1),(11,1),(12,2),(13,2),(14,2),(15,1),(16,1);"
		    "INSERT INTO payroll VALUES (1, 100);",
		    NULL, NULL, NULL) != SQLITE_OK)
		return -1;
	sqlite3_close(sqlite);
	return 0;
}

static int remove_database(void **state)
{
	(void)state;
	unlink(database);
	*strrchr(database, '/') = '\0';
	return rmdir(database);
}

#endif
