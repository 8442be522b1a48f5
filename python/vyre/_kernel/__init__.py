"""``@vyre.kernel``: kernels written as functions of Python.

A function's source is read when it is decorated (source.py), and refuse.py says what a kernel cannot have. It is
rewritten when it is first traced (rewrite.py): exits.py turns early exits into branches, statements.py and
expressions.py write calls of a Tracer, in pieces of syntax.py. Running the rewritten function on expressions makes a
Program (trace.py), with the Tracer (tracer.py) deciding what Python would decide by numbers; control.py has its
branches and loops, slots.py the variables where paths meet, ranges.py `range`, functions.py Python's own functions,
values.py what variables hold, and arrays.py what indexing means.

arguments.py matches the arguments of a call with the parameters, launch.py says what calls with
arrays of the same shapes share, and words.py what the words are that the Program loads. call.py runs
the Program, smaller.py in smaller workgroups where a device needs them, and wider.py in wider ones
where they are faster. plans.py remembers calls, and tails.py explains time-outs. notes.py says what is
probably not meant, and explain.py what a kernel became.

tracing.py and debugs.py tell what invocations compute, by statements that recorder.py adds, as rows.py prints it.
cost.py counts what a call does. parts.py takes a Program apart for tails.py and for assignments.py, which finds the
user's assignment for a mistake where paths meet.
"""
