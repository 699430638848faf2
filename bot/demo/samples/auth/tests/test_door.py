import unittest

from accounts.auth import Door


class DoorTest(unittest.TestCase):
    def test_the_right_words(self):
        self.assertTrue(Door({"rita": "correct horse"}).opens("rita", "correct horse"))

    def test_the_wrong_words(self):
        self.assertFalse(Door({"rita": "correct horse"}).opens("rita", "battery"))

    def test_nobody_known(self):
        self.assertFalse(Door({}).opens("rita", ""))
