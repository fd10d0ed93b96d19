"""Whatever stands in what others wrote, its readers answer, or say in words what is wrong."""
