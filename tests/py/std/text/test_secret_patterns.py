"""Patterns as scanners for secrets have them: with anchors, word boundaries and flags, beside Python's `re`."""

import re

import pytest

from vyre import std

# What <u9> stands for in a text: 9 bytes of the first of these. The texts are made, and open nothing.
FILLED = {"u": "QZ7R", "l": "qz7r", "h": "0a9f", "m": "qZ7R", "a": "aBcD"}
# A pattern, a text in which it matches, and one in which it does not.
SECRETS = [
    (r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b", "AKIA<u16>", "AKIA<u17>"),
    (
        r"(?i)\baws_?secret\w*[ \t]*[=:][ \t]*['\"]?[a-z0-9/+]{40}(?:[^a-z0-9/+]|\z)",
        "AWS_SECRET_KEY=<m40>",
        "aws_secret=<m41>",
    ),
    (r"\bgh[pousr]_[A-Za-z0-9]{36}\b", "ghp_<m36>", "ghp_<m37>"),
    (r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b", "github_pat_<m22>_<m59>", "github_pat_<m82>"),
    (r"\bglpat-[\w-]{20}(?:[^\w-]|\z)", "glpat-<m20>", "glpat-<m21>"),
    (
        r"\bxox[baprs]-(?:\d{10,13}-){1,3}[A-Za-z0-9]{24,32}\b",
        "xoxb-4071407140-4071407140-<m24>",
        "xoxb-4071407140-<m33>",
    ),
    (
        r"\bxapp-\d-[A-Z0-9]{8,12}-\d{10,13}-[a-f0-9]{64}\b",
        "xapp-1-<u9>-4071407140-<h64>",
        "xapp-1-<u9>-4071407140-<h63>",
    ),
    (
        r"https://hooks\.slack\.com/services/T\w{8,10}/B\w{8,10}/\w{24}$",
        "https://hooks.slack.com/services/T<u8>/B<u8>/<m24>",
        "https://hooks.slack.com/services/T<u8>/B<u8>",
    ),
    (r"\b[sr]k_(?:live|test)_[0-9a-zA-Z]{24,99}\b", "sk_live_<m24>", "task_live_<m24>"),
    (r"\bwhsec_[A-Za-z0-9+/]{32}", "whsec_<m32>", "_whsec_<m32>"),
    (r"\bAIza[\w-]{35}(?:[^\w-]|$)", "AIza<m35>", "AIza<m36>"),
    (r"\bya29\.[\w-]{20,}", "ya29.<m30>", "cya29.<m30>"),
    (r"\bGOCSPX-[\w-]{28}(?:[^\w-]|\z)", "GOCSPX-<m28>", "GOCSPX-<m29>"),
    (
        r"(?m)^-----BEGIN (?:(?:RSA|DSA|EC|OPENSSH|PGP) )?PRIVATE KEY(?: BLOCK)?-----$",
        "-----BEGIN RSA PRIVATE KEY-----",
        " -----BEGIN PRIVATE KEY-----",
    ),
    (
        r"(?s)\A-----BEGIN CERTIFICATE-----\n.*-----END CERTIFICATE-----\n?\z",
        "-----BEGIN CERTIFICATE-----\n<m9>\n-----END CERTIFICATE-----",
        "\n-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
    ),
    (r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}", "eyJ<m16>.eyJ<m16>.<m16>", "keyJ<m16>.eyJ<m16>.<m16>"),
    (r"\bnpm_[A-Za-z0-9]{36}\b", "npm_<m36>", "npm_<m35>"),
    (r"\bpypi-AgEIcHlwaS5vcmc[\w-]{50,}", "pypi-AgEIcHlwaS5vcmc<m50>", "pypi-AgEIcHlwaS5vcmc<m49>"),
    (r"\brubygems_[a-f0-9]{48}\b", "rubygems_<h48>", "rubygems_<h47>g"),
    (r"\bdckr_pat_[\w-]{27}(?:[^\w-]|\z)", "dckr_pat_<m27>", "dckr_pat_<m26>"),
    (r"\bSG\.[\w-]{22}\.[\w-]{43}(?:[^\w-]|$)", "SG.<m22>.<m43>", "SG.<m66>"),
    (r"\bkey-[0-9a-f]{32}\b", "key-<h32>", "monkey-<h32>"),
    (r"\b[0-9a-f]{32}-us\d{1,2}\b", "<h32>-us20", "<h33>-us20"),
    (r"\b(?:SK|AC)[0-9a-f]{32}\b", "SK<h32>", "SK<u32>"),
    (r"\bdo[opr]_v1_[a-f0-9]{64}\b", "dop_v1_<h64>", "dop_v2_<h64>"),
    (r"\bhf_[A-Za-z]{34}\b", "hf_<a34>", "hf_<m34>"),
    (r"\bsk-(?:proj-)?[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b", "sk-<m20>T3BlbkFJ<m20>", "sk-<m48>"),
    (r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b", "shpat_<h32>", "shpat_<h33>"),
    (r"\bsq0(?:atp|csp)-[\w-]{22,43}(?:[^\w-]|\z)", "sq0atp-<m22>", "sq0atp-<m44>"),
    (r"\b\d{8,10}:AA[\w-]{33}(?:[^\w-]|\z)", "407140714:AA<m33>", "407140714:AA<m34>"),
    (r"\b[MNO][A-Za-z\d]{23}\.[\w-]{6}\.[\w-]{27}(?:[^\w-]|\z)", "M<m23>.<m6>.<m27>", "M<m23>.<m6>.<m28>"),
    (
        r"(?i)\bheroku\b.{0,20}\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
        "Heroku = <h8>-<h4>-<h4>-<h4>-<h12>",
        "heroku1 <h8>-<h4>-<h4>-<h4>-<h12>",
    ),
    (r"\bNRAK-[A-Z0-9]{27}\b", "NRAK-<u27>", "NRAK-<l27>"),
    (r"\bdapi[a-h0-9]{32}\b", "dapi<h32>", "dapi<h31>"),
    (r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b", "PMAK-<h24>-<h34>", "PMAK-<h59>"),
    (r"\blin_api_[A-Za-z0-9]{40}\b", "lin_api_<m40>", "lin_api_<m39>"),
    (r"\bhvs\.[\w-]{90,100}(?:[^\w-]|\z)", "hvs.<m90>", "hvs.<m101>"),
    (r"\bAGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}\b", "AGE-SECRET-KEY-1<u58>", "AGE-SECRET-KEY-1B<u57>"),
    (
        r"(?i:postgres(?:ql)?|mysql|mongodb(?:\+srv)?)://[^\s:@/]+:[^\s:@/]+@[\w.-]+\b",
        "MySQL://me:hunter2@db.example:5432",
        "mysql://db.example",
    ),
    (
        r"(?im)^[ \t]*(?:export[ \t]+)?\w*(?:password|secret|token)\b[ \t]*=[ \t]*[^\s#]{6,}$",
        "export DB_PASSWORD=hunter2",
        "passwords=hunter2",
    ),
    (
        r"(?im)^authorization:[ \t]*(?:basic|bearer)[ \t]+[\w.~+/-]+=*[ \t]*$",
        "Authorization: Bearer <m24>=",
        "x-authorization: basic <m24>",
    ),
]


def filled(text):
    return re.sub("<(.)([0-9]+)>", lambda found: (FILLED[found[1]] * 30)[: int(found[2])], text).encode()


@pytest.mark.parametrize(("pattern", "secret", "other"), SECRETS, ids=[secret for _, secret, _ in SECRETS])
def test_a_scanners_pattern_finds_what_re_finds(pattern, secret, other):
    made, known = std.regex(pattern.encode()), re.compile(pattern.replace(r"\z", r"\Z").encode())
    for text, there in ((filled(secret), True), (filled(other), False)):
        assert bool(known.search(text)) == there
        for around in (b"%b", b"# a file\n%b\nkey = '%b'; %b\r\n", b"%b %b%b\n", b"\xe9%b_%b-%b"):
            data = around.replace(b"%b", text)
            assert made.find(data, backend="cpu").tolist() == [match.span() for match in known.finditer(data)]
