import unittest

from durations import parse


class ParseTest(unittest.TestCase):
    def test_one_part(self):
        self.assertEqual(parse("90s"), 90)

    def test_two_parts(self):
        self.assertEqual(parse("1h30m"), 5400)

    def test_days(self):
        self.assertEqual(parse("2d"), 172800)


if __name__ == "__main__":
    unittest.main()
