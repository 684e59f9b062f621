/* disk: which file systems are known, for good or not; a folder of this machine passes the trial.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "host/disk.h"
#include "host/file.h"

static void known(void **state)
{
	static const struct {
		uint64_t magic;
		const char *type;
		enum rg_disk disk;
	} cases[] = {
		{ 0xEF53, "ext4", RG_DISK_GOOD },
		{ 0x794C7630, "overlay", RG_DISK_GOOD },
		{ 0x6969, "nfs4", RG_DISK_REFUSED },
		{ 0x01021997, "9p", RG_DISK_REFUSED },
		{ 0xFE534D42, "smb3", RG_DISK_REFUSED },
		{ 0x65735546, "virtiofs", RG_DISK_REFUSED },
		{ 0x65735546, "fuse.sshfs", RG_DISK_REFUSED },
		{ 0x65735546, "fuse.gocryptfs", RG_DISK_TRIED },
		{ 0x65735546, "", RG_DISK_TRIED },
		{ 0x12345678, "new", RG_DISK_TRIED },
	};
	const char *name;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(rg_disk_judge(cases[i].magic, cases[i].type, &name),
				 cases[i].disk);
		assert_true(*name);
	}
}

static void tried(void **state)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct roger_err err;

	(void)state;
	assert_int_equal(rg_file_open_folder(AT_FDCWD, ".", &folder, &err), ROGER_OK);
	assert_int_equal(rg_disk_try(folder, ".", &err), ROGER_OK);
	assert_int_equal(rg_disk_check(folder, ".", true, &err), ROGER_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(known), cmocka_unit_test(tried) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
