/* Exact money: 128-bit whole numbers of 10^-18 USD. What can fail: an amount beyond them. */
#include "orchestrator/cost.h"

#include <stdio.h>
#include <string.h>

#define POINT 18 /* decimals kept */
#define POWER_5_12 244140625
#define PRICES 3

typedef __int128 attos; /* 10^-18 USD */

/* micros * quantity / per, in attos; false on overflow */
static bool amount_of(int64_t micros, int64_t quantity, const char *per, attos *ret)
{
	static const struct {
		const char *per;
		int64_t factor; /* 10^12 / per, or 5^12 for powers of two */
		int shift;	/* and then so many bits less, rounded */
	} known[] = {{"GB", 1000, 0},
		     {"TB", 1, 0},
		     {"million", 1000000, 0},
		     {"GiB", POWER_5_12, 18},
		     {"TiB", POWER_5_12, 28}};
	attos product = (attos)micros * quantity;

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(per, known[i].per) != 0)
			continue;
		if (__builtin_mul_overflow(product, (attos)known[i].factor, &product))
			return false;
		if (known[i].shift > 0)
			product = (product + ((attos)1 << (known[i].shift - 1))) >> known[i].shift;
		*ret = product;
		return true;
	}
	return false;
}

/* In full, with two decimals at least: 0.02, 10.00, 0.1845. */
static char *amount_text(attos amount)
{
	char digits[48], *end = digits + sizeof(digits), *at = end;
	size_t decimals = POINT;

	*--at = '\0';
	for (size_t i = 0; i <= POINT || amount > 0; i++) {
		if (i == POINT)
			*--at = '.';
		*--at = (char)('0' + (int)(amount % 10));
		amount /= 10;
	}
	while (decimals > 2 && end[-2] == '0') {
		*(--end - 1) = '\0';
		decimals--;
	}
	return mem_str(at);
}

/* 5000000 per TB: "5 USD/TB" */
static char *price_text(int64_t micros, const char *per)
{
	long long whole = micros / 1000000, rest = micros % 1000000;
	char decimals[8] = "";
	size_t len;

	if (rest == 0)
		return mem_format("%lld USD/%s", whole, per);
	snprintf(decimals, sizeof(decimals), "%06lld", rest);
	for (len = strlen(decimals); len > 1 && decimals[len - 1] == '0'; len--)
		decimals[len - 1] = '\0';
	return mem_format("%lld.%s USD/%s", whole, decimals, per);
}

static void set_amount(struct json *part, attos amount, bool exact)
{
	CLEANUP(mem_freep) char *text = exact ? amount_text(amount) : NULL;

	json_set(part, "amount", json_new_str(text));
}

static struct json *part_of(const char *of, const struct json *price, int64_t quantity,
			    attos *amount, bool *exact)
{
	int64_t micros = json_get_int(price, "micros", 0);
	const char *per = json_get_str(price, "per");
	CLEANUP(mem_freep) char *text = price_text(micros, per ? per : "?");
	struct json *part = json_object();

	*exact = quantity >= 0 && micros >= 0 && per && amount_of(micros, quantity, per, amount);
	json_set_str(part, "of", of);
	json_set_int(part, "quantity", quantity);
	json_set_str(part, "price", text);
	set_amount(part, *amount, *exact);
	return part;
}

struct json *cost_of(const struct json *prices, const struct json *usage)
{
	static const char *const priced[PRICES][2] = {{"scan", "bytes_scanned"},
						      {"input_tokens", "input_tokens"},
						      {"output_tokens", "output_tokens"}};
	struct json *cost, *parts = json_array();
	bool all = true;
	attos total = 0;

	for (size_t i = 0; i < PRICES; i++) {
		const struct json *price = json_get(prices, priced[i][0]);
		attos amount = 0;
		bool exact;

		if (json_type(price) != JSON_OBJECT)
			continue;
		json_push(parts, part_of(priced[i][1], price, json_get_int(usage, priced[i][1], 0),
					 &amount, &exact));
		all = all && exact && !__builtin_add_overflow(total, amount, &total);
	}
	if (json_len(parts) == 0) {
		json_free(parts);
		return NULL;
	}
	cost = json_object();
	set_amount(cost, total, all);
	json_set_str(cost, "currency", "USD");
	json_set(cost, "parts", parts);
	return cost;
}
