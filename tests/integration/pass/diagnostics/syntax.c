// SPDX-License-Identifier: MIT
struct s { int a[4]; unsigned bits : 3; };
void f(struct s *p, int i) { p->a[0] = i; }
