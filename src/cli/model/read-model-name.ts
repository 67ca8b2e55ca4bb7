import {
  longestModelName,
  modelNameForm,
  parseModelName,
  type ModelName,
} from '../../config/base/model-name.ts'
import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'

/** Reads the model of `--model`. Throws a UsageError if it names none. */
export function readModelName(text: string): ModelName {
  const name = parseModelName(text)
  if (name === undefined)
    throw new UsageError(`--model is "${showLine(text.slice(0, longestModelName))}". ${modelNameForm}`)
  return name
}
