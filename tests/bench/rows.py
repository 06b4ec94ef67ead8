# SPDX-License-Identifier: MIT
"""The rows of build/bench/user.json: which variant against which, and the targets of the design page."""

# name: (variant, baseline variant, how the ratio goes, target on the ratio)
#   "over":  value / baseline, the target is a ceiling
#   "times": value / baseline, the target is a floor (how many times slower the other one is)
RATIOS = {
    "user.static": ("pair_static", "floor", "over", 1.15),
    "user.marker": ("pair_marker", "floor", "over", 1.2),
    "user.static_string": ("text_static", "floor_string", "over", 1.5),
    "user.no_clock": ("pair_noclock", "floor_no_clock", "over", 1.5),
    "user.vs_lttng_ust": ("lttng_overwrite", "pair_static", "times", 5.0),
    # Side rows: no target, but they say what the figures above are worth.
    "user.marker_string": ("text_marker", "floor_string", "over", None),
    "user.off": ("pair_off", "floor", "over", None),
    "user.printk_file": ("pair_printk", "floor", "over", None),
    "user.vs_lttng_ust_discard": ("lttng_discard", "pair_static", "times", None),
    "user.vs_lttng_ust_string": ("lttng_string", "text_static", "times", None),
    "user.vs_fprintf_null": ("fprintf_null", "pair_static", "times", None),
    "user.vs_fprintf_null_line": ("fprintf_null_line", "pair_static", "times", None),
    "user.vs_fprintf_file": ("fprintf_file", "pair_static", "times", None),
    "user.vs_fprintf_file_line": ("fprintf_file_line", "pair_static", "times", None),
    "user.vs_usdt_uprobe": ("usdt_uprobe", "pair_static", "times", None),
    "user.usdt_idle": ("usdt", "floor", "over", None),
}

# name: (unit, target on the value, its sense)
VALUES = {
    "user.disabled": ("instructions/hook", 1.5, "over"),
    "user.pass_disabled": ("instructions/hook", 2.0, "over"),
    "user.switch_10k_ms": ("ms", 1.0, "over"),
    "genevent.2000_events_ms": ("ms", 1000.0, "over"),
}

# Conditions of a ratio row: the bare name is one thread, hot.
CONDITIONS = {"": (1, "hot"), ".2thr": (2, "hot"), ".cold": (1, "cold"), ".2thr.cold": (2, "cold")}

REQUIRED = [n for n, r in RATIOS.items() if r[3] is not None] + ["user.disabled", "user.switch_10k_ms"]


def target(name):
    """(limit, sense, on) of a row, or None. Targets are for one thread and two, hot."""
    base = name[: -len(".2thr")] if name.endswith(".2thr") else name
    if base in RATIOS and RATIOS[base][3] is not None:
        return RATIOS[base][3], RATIOS[base][2], "ratio"
    if name in VALUES:
        return VALUES[name][1], VALUES[name][2], "value"
    return None


def verdict(row):
    """'pass', 'miss', 'skipped' or '' for a row of the JSON."""
    if row["value"] is None:
        return "skipped"
    goal = target(row["name"])
    if goal is None:
        return ""
    limit, sense, on = goal
    found = row[on]
    return "pass" if (found <= limit if sense == "over" else found >= limit) else "miss"
