/* empty - a program, built as roger is, that does nothing: the price of a process. */
int main(void)
{
	return 0;
}
