// linked into every image that contains Objective-C code: hands its metadata to the runtime before anything else runs
extern "C" {
#define R(n)                                                              \
  extern void *__start_##n[] __attribute__((weak, visibility("hidden"))), \
      *__stop_##n[] __attribute__((weak, visibility("hidden")));
R(objc_classlist) R(objc_catlist) R(objc_selrefs) R(objc_nlclslist) void objc_register_image(void*);
__attribute__((constructor(101))) static void reg() {
  void* im[] = {__start_objc_classlist, __stop_objc_classlist, __start_objc_catlist,   __stop_objc_catlist,
                __start_objc_selrefs,   __stop_objc_selrefs,   __start_objc_nlclslist, __stop_objc_nlclslist};
  objc_register_image(im);
}
}
