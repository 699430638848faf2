import unittest

from greeting import greet


class GreetTest(unittest.TestCase):
    def test_by_name(self):
        self.assertEqual(greet("Rita"), "Hello, Rita!")
