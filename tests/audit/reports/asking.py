"""What tests of the page do in it: ask, follow, choose; and what they read of it."""

from __future__ import annotations

STATUS = "document.querySelector('#answer [role=status]').textContent"
TITLE = "document.querySelector('#answer h3').textContent"
CHIPS = "[...cell.querySelectorAll('.chips > li')].map(li => li.textContent)"
ROWS = (
    "[...document.querySelectorAll('#answer tbody tr')].map(row => [...row.cells].map(cell => "
    f"cell.querySelector('.chips') ? {CHIPS}.join(' ') : cell.textContent))"
)
EVERYONE = "document.querySelector('#answer .everyone')?.textContent ?? null"
NAMES = "[...document.querySelectorAll('#answer .named a')].map(a => a.textContent)"
HEIGHT = "document.documentElement.scrollHeight"


def ask(browser, words):
    """Type a question into the box."""
    browser.js(
        f"(() => {{ const e = document.getElementById('ask-words'); e.value = {words!r};"
        " e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def choose(browser, name, value):
    browser.js(
        f"(() => {{ const e = document.getElementById({name!r}); e.value = {value!r};"
        " e.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )


def search_findings(browser, words):
    browser.js(
        "(() => { const e = document.getElementById('finding-words'); e.value = " + repr(words) +
        "; e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )  # fmt: skip


def go(browser, place):
    """Follow an address of the page."""
    browser.js(
        f"new Promise(done => {{ if (location.hash === {place!r}) done(); addEventListener("
        f"'hashchange', () => setTimeout(done), {{once: true}}); location.hash = {place!r}; }})"
    )


def saved(browser, selector):
    """Press a button for CSV, and return the name and the text of what would be saved."""
    return browser.js(
        "(async () => { const kept = {}; const make = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { kept.blob = blob; return make(blob); };"
        "const click = HTMLAnchorElement.prototype.click;"
        "HTMLAnchorElement.prototype.click = function () { kept.name = this.download; };"
        f"document.querySelector({selector!r}).click();"
        "URL.createObjectURL = make; HTMLAnchorElement.prototype.click = click;"
        "return [kept.name, await kept.blob.text()]; })()"
    )


def shown_findings(browser):
    return browser.js(
        "[...document.querySelectorAll('#finding-table tbody tr')]"
        ".map(row => row.querySelector('code').textContent)"
    )
