/* empty - a dynamically linked program that does nothing: the price of a process. */
int main(void)
{
	return 0;
}
