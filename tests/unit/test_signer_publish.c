/* The public key outside state/: written once, never changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "broker/signer/publish.h"

static char folder[64];
static int folder_fd;

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/writ-pub.XXXXXX");
	assert_non_null(mkdtemp(folder));
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder_fd < 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlinkat(folder_fd, "audit.pub", 0);
	close(folder_fd);
	return rmdir(folder);
}

static void make_key(uint8_t fill, struct vkey *ret_key)
{
	uint8_t public_key[ED25519_PUBLIC_LEN];
	struct err err;

	memset(public_key, fill, sizeof(public_key));
	assert_int_equal(vkey_init(ret_key, "writ.local/x/0123456789abcdef", public_key, &err), 0);
}

static void test_publish_writes_the_key_and_accepts_it_again(void **state)
{
	struct buf text = BUF_INIT;
	struct vkey key;
	struct err err;

	(void)state;
	make_key(7, &key);
	assert_int_equal(signer_publish(folder_fd, &key, &err), 0);
	assert_int_equal(signer_publish(folder_fd, &key, &err), 0);
	assert_int_equal(file_read_at(folder_fd, "audit.pub", 4096, &text, &err), 0);
	assert_non_null(strstr(buf_str(&text), "# fingerprint SHA-256 "));
	assert_non_null(strstr(buf_str(&text), "\nwrit.local/x/0123456789abcdef+"));
	buf_clear(&text);
}

static void test_publish_refuses_when_another_key_stands_there(void **state)
{
	struct vkey first, second;
	struct err err;

	(void)state;
	make_key(7, &first);
	make_key(8, &second);
	assert_int_equal(signer_publish(folder_fd, &first, &err), 0);
	assert_int_equal(signer_publish(folder_fd, &second, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.text, "audit.pub names another key"));
	assert_int_equal(signer_publish(folder_fd, &first, &err), 0);
}

static void test_publish_refuses_an_empty_file_and_a_link(void **state)
{
	struct vkey key;
	struct err err;

	(void)state;
	make_key(7, &key);
	assert_int_equal(file_replace_at(folder_fd, "audit.pub", 0644, "", 0, false, &err), 0);
	assert_int_equal(signer_publish(folder_fd, &key, &err), -1);
	assert_int_equal(unlinkat(folder_fd, "audit.pub", 0), 0);
	assert_int_equal(symlinkat("/etc/hostname", folder_fd, "audit.pub"), 0);
	assert_int_equal(signer_publish(folder_fd, &key, &err), -1);
}

static void test_publish_writes_into_the_file_it_was_given(void **state)
{
	struct buf text = BUF_INIT;
	struct vkey key, other;
	struct err err;

	(void)state;
	if (geteuid() != 0)
		skip();
	make_key(7, &key);
	make_key(8, &other);
	assert_int_equal(file_replace_at(folder_fd, "audit.pub", 0644, "", 0, false, &err), 0);
	assert_int_equal(fchmod(folder_fd, 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(signer_publish(folder_fd, &key, &err), -1); /* root's: not given */
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(fchownat(folder_fd, "audit.pub", 65534, 65534, 0), 0);
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(signer_publish(folder_fd, &key, &err), 0);
	assert_int_equal(signer_publish(folder_fd, &key, &err), 0);
	assert_int_equal(signer_publish(folder_fd, &other, &err), -1);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(file_read_at(folder_fd, "audit.pub", 4096, &text, &err), 0);
	assert_non_null(strstr(buf_str(&text), "\nwrit.local/x/0123456789abcdef+"));
	buf_clear(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_publish_writes_the_key_and_accepts_it_again,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_publish_refuses_when_another_key_stands_there,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_publish_refuses_an_empty_file_and_a_link,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_publish_writes_into_the_file_it_was_given,
						make_folder, remove_folder),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
