"""A shopping cart."""

DISCOUNT = 0.1


def total(prices):
    return sum(prices)


def greet(name):
    return "Hello, " + name


def count(items):
    return len(items) + 1  # wrong by one
