// A kernel template becomes one kernel for the layout the host compiles this text for: LAYOUT is a struct of blocks.h.
// One library a layout: a model pays only for the layouts it has.
#pragma once

#define INSTANTIATE(name) template [[host_name(#name)]] [[kernel]] decltype(name<LAYOUT>) name<LAYOUT>;
