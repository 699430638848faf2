"""The sensitive words over paths: one row per word and form, and the look-alikes that are none."""

from __future__ import annotations

import pytest

from gates.rules import words
from gates.rules.words import FORMS, words_in
from tests.gates.rules.changes import changed

WHOLE = [
    # auth
    ("auth", "src/auth.py", "alone"),
    ("auth", "src/user_auth.py", "snake, last"),
    ("auth", "src/auth_user.py", "snake, first"),
    ("auth", "web/basic-auth-dialog.tsx", "kebab, in the middle"),
    ("auth", "web/authGuard.ts", "camel, first"),
    ("auth", "web/requireAuth.ts", "camel, last"),
    ("auth", "app/UserAuth.java", "pascal"),
    ("auth", "app/OAuthClient.java", "after one capital"),
    ("auth", "app/HTTPAuthHandler.java", "after capitals"),
    ("auth", "app/AUTH_RULES.txt", "upper case"),
    ("auth", "src/auths.py", "plural"),
    ("auth", "auth/index.js", "a folder"),
    ("auth", "packages/my-auth/src/index.js", "a folder among others"),
    ("auth", "src/authenticator.py", "authenticator"),
    ("auth", "src/authenticators.py", "authenticators"),
    ("auth", "src/authentication.py", "authentication"),
    ("auth", "src/authenticate.py", "authenticate"),
    ("auth", "web/isAuthenticated.js", "authenticated in camel"),
    ("auth", "src/authorization.py", "authorization"),
    ("auth", "src/authorisation.py", "authorisation"),
    ("auth", "src/authorizer.go", "authorizer"),
    ("auth", "src/unauthorized.html", "unauthorized"),
    ("auth", "etc/authorized_keys", "authorized"),
    ("auth", "src/authn.go", "authn"),
    ("auth", "src/authz.go", "authz"),
    ("auth", "src/oauth.py", "oauth"),
    ("auth", "src/oauth2.py", "oauth with a number"),
    ("auth", "src/webauthn.ts", "webauthn"),
    ("auth", "src/auth2.py", "with a number"),
    ("auth", "src/authservice.py", "written together, first"),
    ("auth", "src/userauth.py", "written together, last"),
    ("auth", "tests/test_auth.py", "its test"),
    ("auth", "ｓrc/ａｕｔｈ.py", "full-width letters"),
    # security
    ("security", "src/security.py", "alone"),
    ("security", "src/web_security.py", "snake"),
    ("security", "docs/security-policy.md", "kebab"),
    ("security", "app/SecurityConfig.java", "camel"),
    ("security", "security/rules.yml", "a folder"),
    ("security", "src/securities.py", "plural"),
    ("security", "src/secure_cookie.py", "secure"),
    ("security", "src/insecure.py", "insecure"),
    ("security", "src/websecurity.py", "written together"),
    # password
    ("password", "src/password.py", "alone"),
    ("password", "src/reset_password.py", "snake"),
    ("password", "web/password-reset.vue", "kebab"),
    ("password", "web/resetPassword.ts", "camel"),
    ("password", "app/PasswordHasher.cs", "pascal"),
    ("password", "data/passwords.txt", "plural"),
    ("password", "password/views.py", "a folder"),
    ("password", "src/resetpassword.py", "written together, last"),
    ("password", "src/passwordhasher.py", "written together, first"),
    ("password", "src/forgotpasswordform.py", "written together, in the middle"),
    ("password", "etc/passwd", "passwd"),
    ("password", "src/passphrase.py", "passphrase"),
    # token
    ("token", "src/token.py", "alone"),
    ("token", "src/access_token.py", "snake"),
    ("token", "src/refresh-token.ts", "kebab"),
    ("token", "src/tokenStore.ts", "camel"),
    ("token", "src/JWTToken.cs", "after capitals"),
    ("token", "src/APIToken.cs", "after three capitals"),
    ("token", "src/tokens.py", "plural"),
    ("token", "token/store.py", "a folder"),
    ("token", "src/accesstoken.py", "written together"),
    ("token", "src/token2.py", "with a number"),
    # secret
    ("secret", "src/secret.py", "alone"),
    ("secret", "src/client_secret.py", "snake"),
    ("secret", "deploy-secrets.md", "kebab and plural"),
    ("secret", "src/secretManager.ts", "camel"),
    ("secret", "src/SecretsManager.ts", "pascal and plural"),
    ("secret", "secret/read.go", "a folder"),
    ("secret", "src/clientsecret.py", "written together"),
    # credential
    ("credential", "src/credential.py", "alone"),
    ("credential", "src/aws_credentials.py", "snake and plural"),
    ("credential", "src/credential-helper.sh", "kebab"),
    ("credential", "src/CredentialProvider.java", "camel"),
    ("credential", "credentials/load.py", "a folder"),
    ("credential", "src/usercredentials.py", "written together"),
    ("credential", "src/creds.py", "creds"),
    # permission
    ("permission", "src/permission.py", "alone"),
    ("permission", "src/user_permissions.py", "snake and plural"),
    ("permission", "src/permission-map.ts", "kebab"),
    ("permission", "src/hasPermission.ts", "camel"),
    ("permission", "permissions/__init__.py", "a folder"),
    ("permission", "src/userpermissions.py", "written together"),
    # acl
    ("acl", "src/acl.py", "alone"),
    ("acl", "src/file_acl.py", "snake"),
    ("acl", "src/acl-rules.json", "kebab"),
    ("acl", "src/aclEntry.ts", "camel"),
    ("acl", "src/ACLs.java", "plural in capitals"),
    ("acl", "src/ACLRule.java", "capitals before a word"),
    ("acl", "src/acls.py", "plural"),
    ("acl", "acl/check.go", "a folder"),
    ("acl", "src/aclmanager.py", "written together"),
    # rbac
    ("rbac", "src/rbac.py", "alone"),
    ("rbac", "src/k8s_rbac.py", "snake"),
    ("rbac", "src/rbac-roles.yaml", "kebab"),
    ("rbac", "src/RBACPolicy.go", "capitals before a word"),
    ("rbac", "src/RBACs.go", "plural in capitals"),
    ("rbac", "rbac/model.py", "a folder"),
    ("rbac", "src/rbacpolicy.go", "written together"),
]

ROWS = [pytest.param(word, path, id=f"{word}: {form}") for word, path, form in WHOLE]


@pytest.mark.parametrize(("word", "path"), ROWS)
def test_the_word_stands_whole_in_the_path(word: str, path: str) -> None:
    assert words_in(path) == (word,)


LOOK_ALIKES = [
    "src/author.py",
    "AUTHORS.md",
    "docs/coauthors.rst",
    "src/authored_posts.py",
    "src/authoring.py",
    "web/AuthorCard.tsx",
    "app/authority_control.py",
    "src/authoritative_dns.py",
    "src/oauthor_tool.py",
    "nlp/tokenizer.py",
    "nlp/tokenizers/fast.py",
    "nlp/tokenization.py",
    "nlp/tokenize.py",
    "nlp/BertTokenizerFast.py",
    "docs/secretary-guide.md",
    "src/secretion.py",
    "assets/passwordless-hero.png",
    "src/permissive_mode.py",
    "src/permit.py",
    "src/incredible.py",
    "src/discredit.py",
    "src/oracle.py",
    "src/miracle.py",
    "src/spectacles.py",
    "src/aclient.py",
    "src/turbach.py",
    "src/securiteam.py",
    "src/hashtag.py",
    "src/session_music.py",
    "src/app.py",
    "",
    "/",
    "日本語.py",
]


@pytest.mark.parametrize("path", [pytest.param(path, id=path or "nothing") for path in LOOK_ALIKES])
def test_a_look_alike_is_no_word(path: str) -> None:
    assert words_in(path) == ()


def test_every_word_has_its_rows() -> None:
    assert {word for word, _, _ in WHOLE} == set(FORMS)


def test_what_draws_nothing_does_not_part_a_word() -> None:
    assert words_in("src/pass\u200bword.py") == ("password",)


def test_several_words_are_several_findings() -> None:
    found = words.examine(changed("auth/reset_password_token.py"))
    assert [(one.rule, one.level) for one in found] == [
        ("word.auth", "approve"),
        ("word.password", "approve"),
        ("word.token", "approve"),
    ]


def test_a_removed_file_is_found_too() -> None:
    [found] = words.examine(changed("src/auth.py", None, "x = 1\n"))
    assert set(found.blob) == {"0"}
