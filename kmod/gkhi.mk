# SPDX-License-Identifier: GPL-2.0-only
# Hooks for a module's Kbuild file. At its end, with obj-m and the modules' objects named:
#
#   obj-m := x.o
#   x-y := x_main.o demo_events.o     # two objects at least: kbuild links them, with gkhi.lds
#   gkhi-providers := demo            # from demo.yaml: demo_events.h and demo_events.c
#   include $(GKHI)/kmod/gkhi.mk      # GKHI: gkhi's sources, or what `make install` made of them
#
# Sites in untouched source (site: in the YAML) want clang and its pass: build with gkhi-kbuild (docs/pass.md).
#
# GENEVENT is the generator's path, where it is not in PATH. `GKHI_OFF=1` configures hooks out.

GENEVENT ?= genevent

ccflags-y += -I$(GKHI)/hooks/include -I$(obj)
# A module with descriptors gets bounds round its sections.
gkhi-has-hooks = $(filter $(gkhi-providers:%=%_events.o),$($(1)-y) $($(1)-objs))
ifdef GKHI_OFF
ccflags-y += -DGKHI_CONFIG_OFF
else
$(foreach m,$(obj-m:.o=),$(if $(call gkhi-has-hooks,$(m)),$(eval LDFLAGS_$(m).o += -T $(GKHI)/kmod/gkhi.lds)))
endif

quiet_cmd_genevent = GENEVENT $@
      cmd_genevent = $(GENEVENT) generate --cmp-out $< --header $(@:.c=.h) --source $@

$(obj)/%_events.c: $(src)/%.yaml FORCE
	$(call if_changed,genevent)

targets += $(gkhi-providers:%=%_events.c)
clean-files += $(gkhi-providers:%=%_events.[ch])

# Whatever includes the headers waits for them; from then on kbuild knows who does.
$(addprefix $(obj)/,$(foreach m,$(obj-m:.o=),$($(m)-y) $($(m)-objs))): | $(gkhi-providers:%=$(obj)/%_events.c)
