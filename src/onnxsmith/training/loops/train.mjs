// Trains the model beside this file with onnxruntime-web. onnxsmith wrote it; it is yours to change.

const PLAN = "training.json";
const ARRAYS = {
  float16: globalThis.Float16Array ?? Uint16Array, float32: Float32Array, float64: Float64Array, bool: Uint8Array,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};

/** The models of the package, and what training changes: the state, and the number of steps so far. */
export class Training {
  /** `ort` is the module of onnxruntime-web; `options` are those of its sessions. */
  static async open(ort, folder = new URL(".", import.meta.url), options = { executionProviders: ["wasm"] }) {
    const read = async (name) => {
      const answer = await fetch(new URL(name, folder));
      if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
      return answer.arrayBuffer();
    };
    const training = new Training();
    training.ort = ort;
    training.plan = JSON.parse(new TextDecoder().decode(await read(PLAN)));
    const { data, rates, state, files } = training.plan;
    training.types = Object.fromEntries([...data, ...rates, ...state].map((each) => [each.name, each.dtype]));
    training.sessions = {};
    for (const [key, { name, bytes }] of Object.entries(files)) {
      const content = await read(name);
      if (content.byteLength !== bytes) throw new Error(`${name} is damaged, or belongs to another package`);
      if (key === "state") training.load(content);
      else training.sessions[key] = await ort.InferenceSession.create(content, options);
    }
    return training;
  }

  /** Go on from the bytes of a state file, which `save` makes. */
  load(content) {
    this.state = {};
    for (const { name, dtype, shape, offset, bytes } of this.plan.state) {
      const data = new ARRAYS[dtype](content.slice(offset, offset + bytes));
      this.state[name] = new this.ort.Tensor(dtype, data, shape);
    }
    this.count = Number(new BigInt64Array(content.slice(-8))[0]);
  }

  save() {
    const arrays = Object.values(this.state).map((each) => each.data);
    return new Blob([...arrays, BigInt64Array.of(BigInt(this.count))]);
  }

  /** A tensor of nested arrays, of `{ data, dims }`, or one of onnxruntime-web's as it is. */
  tensor(name, value) {
    if (value === undefined) throw new Error(`'${name}' is missing`);
    if (value instanceof this.ort.Tensor) return value;
    const dtype = this.types[name], dims = value.dims ?? [];
    let data = value.data ?? value;
    if (!value.data) for (let part = value; Array.isArray(part); part = part[0]) dims.push(part.length);
    data = Array.isArray(data) ? data.flat(Infinity) : ArrayBuffer.isView(data) ? [...data] : [data];
    if (dtype === "string") return new this.ort.Tensor(dtype, data, dims);
    return new this.ort.Tensor(dtype, ARRAYS[dtype].from(data, dtype.endsWith("int64") ? BigInt : Number), dims);
  }

  /** The outputs of a model by name; it takes the state, and what it needs of a batch. */
  async run(key, given) {
    const session = this.sessions[key], all = { ...this.state, ...given };
    return session.run(Object.fromEntries(session.inputNames.map((name) => [name, this.tensor(name, all[name])])));
  }

  /** Train on a batch and give its loss; rates that are not given are those of the plan. */
  async step(batch, rates = {}) {
    const now = {};
    for (const { name, values } of this.plan.rates) if (values) now[name] = values[Math.min(this.count, values.length - 1)];
    const results = await this.run("training_step", { ...batch, ...now, ...rates });
    for (const name of Object.keys(this.state)) this.state[name] = results[`${name}_next`];
    this.count += 1;
    return results.loss.data[0];
  }

  /** The loss of a batch, and the predictions. */
  evaluate(batch) {
    return this.run("evaluation", batch);
  }

  /** The predictions. */
  predict(inputs) {
    return this.run("inference", inputs);
  }
}
