"""Make the importer's table from the TableGen records of the aten dialect.

For each overload of the dispatcher that an operation lists:

  {"mnemonic": "add",
   "operands": [{"name", "kind": "tensor" | "number" | "optional" | "variadic", "default"?}],
   "attrs": [{"name", "kind": "int" | "ints" | "float" | "floats" | "bool" | "bools" | "str",
              "optional": bool, "default"?}],
   "results": [{"name", "kind": "tensor" | "optional" | "variadic"}],
   "segments": bool, "result_segments": bool, "ignored": [names]}

An operand of kind `number` is a tensor or a number (a constant when the call
gives a Python number), `optional` may also be a number and may be left out.
A `variadic` operand named `indices` with a `bools` attribute
`indices_present` is a `Tensor?[]`.  An int given for `ints` is a list of one.
`segments` tells that the operation has the attribute operandSegmentSizes.

With --operands FILE it also writes what C++ can't ask an operation for, the names
of its operands, one line per operation ("?" marks an optional, "*" a variadic
operand): ATEN_OPERANDS("aten.clamp", "self", "min?", "max?")

With --overloads FILE it writes the table itself for C++, one line per overload:
ATEN_OVERLOAD("aten.sum.dim_IntList", "aten.sum", segments, "self:tensor", "@dim:ints?", "@keepdim:bool")
with "@" before attributes, "?" behind those that may be left out, "=1" behind a number's default, and "!"
before arguments that mean nothing on values.
"""
import argparse
import json
import os
import re
import subprocess

ATTRS = {
    "I64Attr": "int",
    "DenseI64ArrayAttr": "ints",
    "F64Attr": "float",
    "DenseF64ArrayAttr": "floats",
    "BoolAttr": "bool",
    "DenseBoolArrayAttr": "bools",
    "StrAttr": "str",
}


def value(text):
    """The Python value of a default that is written in C++."""
    text = re.sub(r"\{(.*)\}", r"[\1]", text)
    return json.loads(text)


def attribute(db, record):
    """(kind, optional, default text) of an attribute constraint."""
    default = record.get("defaultValue") or None
    base = record
    while base.get("baseAttr"):
        base = db[base["baseAttr"]["def"]]
    return ATTRS[base["!name"]], bool(record.get("isOptional")) and default is None, default


def operation(db, record):
    operands, attrs = [], []
    for constraint, name in record["arguments"]["args"]:
        arg = db[constraint["def"]]
        classes = arg["!superclasses"]
        if "Attr" in classes:
            kind, optional, default = attribute(db, arg)
            entry = {"name": name, "kind": kind, "optional": optional}
            if default is not None:
                entry["default"] = value(default)
            attrs.append(entry)
            continue
        entry = {"name": name}
        if "Optional" in classes:
            entry["kind"] = "optional"
        elif "Variadic" in classes:
            entry["kind"] = "variadic"
        elif "Aten_Number" in classes or arg["!name"] == "Aten_TensorOrNumber":
            entry["kind"] = "number"
            if arg.get("defaultNumber"):
                entry["default"] = json.loads(arg["defaultNumber"])
        else:
            entry["kind"] = "tensor"
        operands.append(entry)
    results = []
    for constraint, name in record["results"]["args"]:
        classes = db[constraint["def"]]["!superclasses"]
        kind = "optional" if "Optional" in classes else "variadic" if "Variadic" in classes else "tensor"
        results.append({"name": name, "kind": kind})
    traits = {t["def"] for t in record["traits"]}
    return {
        "mnemonic": record["opName"],
        "operands": operands,
        "attrs": attrs,
        "results": results,
        "segments": "AttrSizedOperandSegments" in traits,
        "result_segments": "AttrSizedResultSegments" in traits,
        "ignored": record["ignored"],
    }


def overload_line(overload, entry):
    """The entry as C++ reads it."""
    args = [f'{o["name"]}:{o["kind"]}' + (f'={o["default"]}' if "default" in o else "") for o in entry["operands"]]
    args += [f'@{a["name"]}:{a["kind"]}' + ("?" if a["optional"] or "default" in a else "") for a in entry["attrs"]]
    args += [f"!{name}:" for name in entry["ignored"]]
    quoted = ", ".join(json.dumps(a) for a in args)
    segments = "true" if entry["segments"] else "false"
    return f'ATEN_OVERLOAD("{overload}", "aten.{entry["mnemonic"]}", {segments}, {quoted})\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tblgen", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--operands")
    parser.add_argument("--overloads")
    parser.add_argument("source")
    parser.add_argument("output")
    args = parser.parse_args()

    includes = [f"-I{path}" for entry in args.include for path in entry.split(";")]
    dump = subprocess.run(
        [args.tblgen, "--dump-json", *includes, args.source], check=True, capture_output=True, text=True
    )
    db = json.loads(dump.stdout)
    table, lines = {}, []
    for name in db["!instanceof"]["Aten_Op"]:
        entry = operation(db, db[name])
        mark = {"optional": "?", "variadic": "*"}
        names = [operand["name"] + mark.get(operand["kind"], "") for operand in entry["operands"]]
        quoted = ", ".join(json.dumps(n) for n in ["aten." + entry["mnemonic"], *names])
        lines.append(f"ATEN_OPERANDS({quoted})\n")
        for overload in db[name]["overloads"]:
            if overload in table:
                raise SystemExit(f"{overload} is listed by aten.{table[overload]['mnemonic']} and aten.{entry['mnemonic']}")
            table[overload] = entry
    os.makedirs(os.path.dirname(args.output), exist_ok=True)
    with open(args.output, "w") as out:
        json.dump(dict(sorted(table.items())), out, indent=1)
    if args.operands:
        with open(args.operands, "w") as out:
            out.writelines(sorted(lines))
    if args.overloads:
        with open(args.overloads, "w") as out:
            # Results that may be absent need to be told which are: C++ does without these.
            plain = {name: entry for name, entry in table.items() if not entry["result_segments"]}
            out.writelines(overload_line(name, entry) for name, entry in sorted(plain.items()))


if __name__ == "__main__":
    main()
