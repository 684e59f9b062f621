/* append - the empty program plus one line appended and synced: append FILE LINE. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t length;
	int file;

	if (argc != 3)
		return 64;
	file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (file < 0)
		return 1;
	length = strlen(argv[2]);
	argv[2][length] = '\n';
	return write(file, argv[2], length + 1) == (ssize_t)(length + 1) && fdatasync(file) == 0
		       ? 0
		       : 1;
}
