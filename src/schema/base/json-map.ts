import { canonicalJson } from '../../kit/json/canonical-json.ts'

/** A map whose keys are JSON values, equal when their JSON is. */
export class JsonMap<V> {
  readonly #primitives = new Map<unknown, V>()
  readonly #texts = new Map<string, V>()

  get(key: unknown): V | undefined {
    return isPrimitive(key) ? this.#primitives.get(key) : this.#texts.get(canonicalJson(key))
  }

  set(key: unknown, value: V): void {
    if (isPrimitive(key)) this.#primitives.set(key, value)
    else this.#texts.set(canonicalJson(key), value)
  }
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
