"""The page that `vyre.to_html` makes: what it holds, and that a browser gives the reference's bytes on WebGPU."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import vyre
from browser import WEBGPU, Browser
from vyre import BufferDecl, Expr, In, InOut, Node, Out, Program, u8, u32, u64

NUMBERS = np.arange(1, 1001, dtype=np.uint32)


@vyre.kernel
def collatz(first: In[u32], steps: Out[u32], odd: Out[vyre.boolean]):
    """Counts the steps of Collatz's sequence."""
    i = vyre.gid(0)
    value = first[i]
    count = 0
    while value > 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        count += 1
    steps[i] = count
    odd[i] = vyre.boolean(count % 2)


@vyre.kernel(workgroup_size=64)
def reversed_in_groups(data: In[u32], out: Out[u32]):
    own = vyre.shared(u32, 64)
    own[63 - vyre.lid(0)] = data[vyre.gid(0)]
    vyre.barrier()
    out[vyre.gid(0)] = own[vyre.lid(0)]


@vyre.kernel
def wide(data: InOut[u64], k: u64, shift: vyre.const):
    i = vyre.gid(0)
    if i < len(data):
        data[i] = (data[i] * k) >> shift


@vyre.kernel
def narrow(text: In[u8], out: Out[u8], halves: Out[vyre.i16]):
    i = vyre.gid(0)
    if i < len(text):
        out[i] = text[i] ^ 0x20
        halves[i] = vyre.i32(text[i]) * -300


@vyre.kernel
def grown(image: In[u32, 2], out: Out[u32, 2]):
    x, y = vyre.gid(0), vyre.gid(1)
    out[y, x] = image[y, x] * 1000 + x - y + vyre.grid_size(0)


@vyre.kernel(workgroup_size=1)
def one_each(total: InOut[u32], place: Out[u32]):
    total.atomic_add(0, 1)
    place[vyre.gid(0)] = vyre.gid(0) * 7


BYTES = Program(
    [
        BufferDecl.read("text", 0, vyre.DataType.Bytes),
        BufferDecl.uniform("n", 1, u32),
        BufferDecl.output("out", 2, u32),
    ],
    (4, 1, 1),
    [Node.store("out", Expr.gid_x(), Expr.load("n", 0) + Expr.buf_len("text") + Expr.gid_x())],
)
RANDOM = np.random.default_rng(5)
CALLS = {
    "bool": (collatz, {"first": NUMBERS}),
    "workgroup memory": (reversed_in_groups, {"data": NUMBERS[:960]}),
    "u64 and constants": (wide, {"data": RANDOM.integers(0, 2**64, 301, np.uint64), "k": 2**63 + 5, "shift": 3}),
    "narrow": (narrow, {"text": b"Every byte, the last ones too.", "halves": np.zeros(30, np.int16)}),
    "two axes": (grown, {"image": RANDOM.integers(0, 99, (13, 29), np.uint32)}),
    "more workgroups than a dispatch has": (
        one_each,
        {"total": np.zeros(1, np.uint32), "place": np.zeros(70_001, np.uint32)},
    ),
    "nothing": (collatz, {"first": NUMBERS[:0]}),
    "a program": (BYTES, {"text": b"abcde", "n": 7, "out": 9}, 3),
    "a specialised kernel": (wide.specialize(shift=60), {"data": NUMBERS.astype(np.uint64), "k": 2**62}),
    "the program of a specialised kernel": (
        wide.specialize(shift=60).program,
        {"data": NUMBERS.astype(np.uint64), "__params": np.array([1, 2**30], np.uint32)},
        4,
    ),
}


def message(call, error):
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


class Reader(HTMLParser):
    """What a parser of HTML makes of a page: elements with their attributes, and the text in each kind."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self._open = [], {}, []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, text):
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(text)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


# --- what it holds ---


def test_it_holds_the_hash_of_what_the_reference_gives():
    steps, odd = collatz(NUMBERS, backend="cpu")
    page = vyre.to_html(collatz, {"first": NUMBERS})
    for output in (steps, odd):
        assert hashlib.sha256(output.tobytes()).hexdigest() in page
    assert "Counts the steps of Collatz's sequence." in "".join(Reader(page).texts["p"])
    assert "value // 2 if value % 2 == 0" in "".join(Reader(page).texts["pre"])


def test_it_loads_nothing():
    page = vyre.to_html(collatz, {"first": NUMBERS})
    assert [
        attributes for _, attributes in Reader(page).elements if {"src", "href", "action"} & attributes.keys()
    ] == []
    assert re.findall(r"https?://|\burl\(|@import|\bimport\(|\bfetch\(|XMLHttpRequest", page) == []
    policy = next(a["content"] for _, a in Reader(page).elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)> & \"quoted\" <!--"


def hostile():
    def first(a: In[u32], out: Out[u32]):
        out[vyre.gid(0)] = a[vyre.gid(0)]

    first.__doc__ = HOSTILE
    return vyre.kernel(first)


def test_everything_is_escaped():
    page = vyre.to_html(hostile(), {"a": NUMBERS}, title=HOSTILE)
    read = Reader(page)
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert "img" not in {tag for tag, _ in read.elements}
    assert read.texts["h1"] == [HOSTILE]
    assert HOSTILE in read.texts["p"]
    assert "<" not in re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1]


def test_a_file_can_hold_the_page_whatever_its_title(tmp_path):
    page = vyre.to_html(collatz, {"first": NUMBERS}, title="\ud800 $title ${x}")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert "<h1>\\ud800 $title ${x}</h1>" in page


def test_zeros_take_no_room():
    small = vyre.to_html(one_each, {"total": np.zeros(1, np.uint32), "place": np.zeros(10, np.uint32)})
    large = vyre.to_html(
        one_each, {"total": np.zeros(1, np.uint32), "place": np.zeros(1_000_000, np.uint32)}, workgroups=10
    )
    assert abs(len(large) - len(small)) < 200


def test_a_resident_array_is_read():
    host = vyre.to_html(collatz, {"first": NUMBERS})
    assert vyre.to_html(collatz, {"first": vyre.array(NUMBERS, backend="cpu")}) == host
    data = {"data": NUMBERS.astype(np.uint64), "k": 3, "shift": 1}
    assert vyre.to_html(wide, {**data, "data": vyre.array(data["data"], backend="cpu")}) == vyre.to_html(wide, data)


def test_inputs_stay_as_they_are():
    data = NUMBERS.astype(np.uint64)
    vyre.to_html(wide, {"data": data, "k": 3, "shift": 1})
    assert data.tolist() == NUMBERS.tolist()


@pytest.mark.parametrize("name", CALLS)
def test_the_hashes_are_those_of_every_backend(name):
    """Computed once more, from the content that the page holds and by another backend."""
    kernel, inputs, *rest = CALLS[name]
    found = {
        row["name"]: row["sha256"] for row in data_of(vyre.to_html(kernel, inputs, *rest))["buffers"] if row["written"]
    }
    if name == "a specialised kernel":
        kernel, inputs = wide, {**inputs, "shift": 60}
    if isinstance(kernel, vyre.Kernel):
        copies = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in inputs.items()}
        results = kernel(**copies, backend="cpu")
        results = results if isinstance(results, tuple) else (results,)
        wanted = [hashlib.sha256(result.tobytes()).hexdigest() for result in results]
        assert list(found.values()) == wanted
    else:
        outputs = vyre.run(kernel, inputs, *rest, backend="cpu")
        assert found == {key: hashlib.sha256(value.tobytes()).hexdigest() for key, value in outputs.items()}


def test_a_specialised_kernel_gives_the_page_of_its_call():
    inputs = {"data": NUMBERS.astype(np.uint64), "k": 7}
    page = vyre.to_html(wide, {**inputs, "shift": 3}, grid=5)
    assert vyre.to_html(wide.specialize(shift=3), inputs, grid=5) == page
    assert "data[i] = (data[i] * k) &gt;&gt; shift" in page
    assert message(lambda: vyre.to_html(wide.specialize(shift=3), {**inputs, "shift": 4}), vyre.ArgumentError) == (
        "input `shift` of vyre.to_html has no place beside its value from specialize. Fix: leave it out."
    )


def test_mistakes_are_told():
    @vyre.procedure
    def twice(a: In[u32]):
        return collatz(a)

    where = "argument `kernel` of vyre.to_html must"
    assert message(lambda: vyre.to_html(twice, {"a": NUMBERS}), vyre.ArgumentError) == (
        f"{where} be a kernel or a Program, got an object of type ProcedureFunction. Fix: pass a kernel or a Program."
    )
    assert message(lambda: vyre.to_html(BYTES, {}, grid=3), vyre.ArgumentError) == (
        "argument `grid` of vyre.to_html has no place for a Program. Fix: leave it out."
    )
    assert message(lambda: vyre.to_html(Program(), {}, 1), vyre.ArgumentError) == (
        f"{where} write a buffer: the page compares what is written. Fix: write a result to an Out array."
    )
    assert message(lambda: vyre.to_html(collatz, {"first": NUMBERS}, title=5), vyre.ArgumentError) == (
        "argument `title` of vyre.to_html must be a str or None, got 5. Fix: pass a str or None."
    )
    large = np.ones((1 << 24) + 1, np.uint32)
    assert message(lambda: vyre.to_html(collatz, {"first": large}), vyre.CapabilityError) == (
        "the inputs of vyre.to_html must have at most 67108864 bytes that are not zeros, got 67108872. Fix: pass one with at most 67108864 bytes that are not zeros."
    )
    assert message(lambda: vyre.to_html(collatz, {"first": NUMBERS.astype(np.int64)}), vyre.BindingError) == (
        "argument `first` of kernel `collatz` must be an array of uint32, got one of int64. Fix: pass an array of uint32."
    )
    assert message(lambda: vyre.to_html(collatz, 5), vyre.BindingError).startswith(
        "argument `inputs` of vyre.to_html must"
    )


# --- in a browser ---


@pytest.fixture(scope="module")
def browser():
    with Browser(WEBGPU) as made:
        yield made


def outcome(browser, tmp_path, page):
    """The status line when the page is done, with what each output shows."""
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    browser.open(path)
    # The page enables its button when it is done, whatever came of it.
    return browser.value(
        """new Promise((resolve) => {
          const button = document.getElementById("again");
          const look = () => {
            if (button.disabled) return requestAnimationFrame(look);
            const rows = [...document.querySelectorAll("tr[id]")];
            const cell = (row, name) => row.querySelector("." + name).textContent;
            resolve({
              status: document.getElementById("status").textContent,
              outputs: rows.map((row) => [cell(row, "here"), cell(row, "verdict"), cell(row, "values")]),
              references: rows.map((row) => row.previousElementSibling.querySelectorAll("td")[2].textContent),
            });
          };
          look();
        })"""
    )


SAME = "same: every byte is the reference's"


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_browser_gives_the_bytes_of_the_reference(browser, tmp_path, name):
    kernel, inputs, *rest = CALLS[name]
    page = vyre.to_html(kernel, inputs, *rest)
    found = outcome(browser, tmp_path, page)
    assert found["status"] == SAME
    hashes = [row["sha256"] for row in data_of(page)["buffers"] if row["written"]]
    assert [(here, verdict) for here, verdict, _ in found["outputs"]] == [(each, "same") for each in hashes]
    assert [values for _, _, values in found["outputs"]] == found["references"]


@pytest.mark.slow
def test_a_page_from_the_disk_asks_for_nothing_and_complains_of_nothing(browser, tmp_path):
    assert outcome(browser, tmp_path, vyre.to_html(hostile(), {"a": NUMBERS}, title=HOSTILE))["status"] == SAME
    assert browser.value("document.title") == HOSTILE
    asked = {
        event["params"]["request"]["url"]
        for event in browser.events
        if event.get("method") == "Network.requestWillBeSent"
    }
    assert {url.partition(":")[0] for url in asked} == {"file"}
    assert len(asked) == 1
    wrong = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
    assert [event for event in browser.events if event.get("method") in wrong] == []


@pytest.mark.slow
def test_other_bytes_are_said_to_differ(browser, tmp_path):
    page = vyre.to_html(collatz, {"first": NUMBERS})
    # Another program: 1 in place of the 3 of Collatz's sequence.
    wrong = changed(page, lambda data: data.update(wgsl=re.sub(r"\b3u\b", "1u", data["wgsl"])))
    found = outcome(browser, tmp_path, wrong)
    assert found["status"].startswith("differs: steps")
    assert found["outputs"][0][1] == "differs"
    assert found["outputs"][0][0] not in page


def changed(page, change):
    """The page with other data."""
    data = data_of(page)
    change(data)
    return page.replace(
        re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1], json.dumps(data).replace("<", "\\u003c")
    )


@pytest.mark.slow
def test_what_the_gpu_lacks_is_named(browser, tmp_path):
    page = changed(
        vyre.to_html(collatz, {"first": NUMBERS}), lambda data: data["limits"].update(maxComputeWorkgroupSizeZ=5000)
    )
    assert re.fullmatch(
        r"cannot run: the program needs maxComputeWorkgroupSizeZ = 5000, and the GPU that this browser offers has \d+\. "
        r"The reference's result below holds all the same\.",
        outcome(browser, tmp_path, page)["status"],
    )


@pytest.mark.slow
def test_a_shader_that_is_refused_is_told_with_its_line(browser, tmp_path):
    page = changed(
        vyre.to_html(collatz, {"first": NUMBERS}), lambda data: data.update(wgsl=data["wgsl"] + "\nfn broken( {")
    )
    assert re.match(r"failed: the WGSL is refused in line \d+: ", outcome(browser, tmp_path, page)["status"])


@pytest.mark.slow
def test_it_runs_again(browser, tmp_path):
    outcome(browser, tmp_path, vyre.to_html(collatz, {"first": NUMBERS}))
    browser.value("document.getElementById('status').textContent = ''; document.getElementById('again').click()")
    assert (
        browser.value(
            "new Promise((done) => { const look = () => document.getElementById('again').disabled ? requestAnimationFrame(look)"
            " : done(document.getElementById('status').textContent); look(); })"
        )
        == SAME
    )


@pytest.mark.slow
def test_the_page_without_scripts_says_so(tmp_path):
    with Browser(WEBGPU) as browser:
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        path = tmp_path / "page.html"
        path.write_text(vyre.to_html(collatz, {"first": NUMBERS}), encoding="utf-8")
        browser.open(path)
        assert browser.value("document.getElementById('status').textContent") == (
            "cannot run: this browser runs no scripts here. The reference's result below holds all the same."
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "script", "said"),
    [
        ([], "", "this browser has WebGPU, and found no GPU for it"),
        ([WEBGPU], "delete Navigator.prototype.gpu", "this browser has no WebGPU"),
        (
            [WEBGPU],
            "delete Navigator.prototype.gpu; Object.defineProperty(window, 'isSecureContext', {value: false})",
            "browsers give no WebGPU to a page that comes over plain http",
        ),
    ],
    ids=["no GPU", "no WebGPU", "plain http"],
)
def test_where_there_is_no_webgpu_the_page_says_so(tmp_path, flags, script, said):
    with Browser(*flags, script=script) as browser:
        found = outcome(browser, tmp_path, vyre.to_html(collatz, {"first": NUMBERS}))
    assert found["status"] == f"cannot run: {said}. The reference's result below holds all the same."
    assert [here for here, _, _ in found["outputs"]] == ["—", "—"]


@pytest.mark.slow
def test_without_cryptography_of_the_browser_the_page_hashes_itself(tmp_path):
    script = "Object.defineProperty(crypto, 'subtle', {value: undefined})"
    with Browser(WEBGPU, script=script) as browser:
        assert outcome(browser, tmp_path, vyre.to_html(collatz, {"first": NUMBERS}))["status"] == SAME
        assert browser.value("crypto.subtle === undefined")
        for length in [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 1000]:
            message = bytes((7 * k + length) % 256 for k in range(length))
            code = f"sha256InScript(Uint8Array.from({list(message)}))"
            assert browser.value(code) == hashlib.sha256(message).hexdigest(), length
