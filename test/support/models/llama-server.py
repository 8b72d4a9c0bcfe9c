# llama.cpp's server on a free port, until its input ends: FOLDER OF THE MODULE, MODEL.gguf, KEY
import importlib.util
import json
import sys

folder, model, key = sys.argv[1:]
spec = importlib.util.spec_from_file_location("xllamacpp", f"{folder}/__init__.py", submodule_search_locations=[folder])
module = importlib.util.module_from_spec(spec)
sys.modules["xllamacpp"] = module
spec.loader.exec_module(module)

params = module.CommonParams()
params.model.path = model
params.model_alias = ["lab/starter"]
params.api_keys = [key]
params.n_ctx = 4096
params.n_parallel = 2
params.endpoint_slots = True
params.use_jinja = True
params.warmup = False
# On a busy machine, threads that wait for each other take most of the time.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = module.Server(params)
print(json.dumps({"address": server.listening_address}), flush=True)
sys.stdin.read()
