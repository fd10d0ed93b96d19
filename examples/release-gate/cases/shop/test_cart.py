import unittest

import cart


class CartTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(cart.total([1, 2]), 3)

    def test_count(self):
        self.assertEqual(cart.count(["a", "b"]), 2)
