import type { Issue, Json, JsonObject } from '../../contract/base/json.ts'
import type { Treated, Treatment, TreatmentFacts } from '../../contract/obligations.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import { parsePointer } from '../../kit/json/json-pointer.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { findClassified } from './classified.ts'
import type { HidingRule, WatermarkRule } from './compiled-rule.ts'
import { isBelow } from './pointers.ts'
import { createTextHider, withheldText } from './text-hider.ts'
import { treatContent, treatRest } from './treat-content.ts'
import { treatData, type DataRule, type TreatedData } from './treat-data.ts'

/** The rules that one tool meets, in the order in which they are carried out. */
export interface OwnRules {
  readonly hiding: readonly HidingRule[]
  readonly watermarks: readonly WatermarkRule[]
}

/** What these rules make of the calls of one tool. */
export function createTreatment(
  { hiding, watermarks }: OwnRules,
  { inputSchema, outputSchema }: ToolDefinition,
): Treatment {
  const ofOutput = hiding.map((rule) => ({ ...rule, classified: findClassified(outputSchema, rule.labels) }))
  const ofInput = hiding.map((rule) => ({
    ...rule,
    pointers: [],
    classified: findClassified(inputSchema, rule.labels),
  }))
  const ids = [...hiding, ...watermarks].map(({ id }) => id)
  const text = (value: string): string => createTextHider(hiding).text(value)
  return {
    ids,
    text,
    input: (input) => treatInput(input, ofInput),
    issues: (issues, of) => treatIssues(issues, of === 'input' ? ofInput : ofOutput, text),
    output(output, about) {
      const treated = treatOutput(output, ofOutput, about)
      return 'failed' in treated ? treated : sign(treated, { ids, watermarks, about })
    },
  }
}

/** Evidence need not fit a schema. */
function treatInput(input: JsonObject, rules: readonly DataRule[]): JsonObject {
  const { data } = treatData(input, rules, { hider: createTextHider(rules), findIssues: () => [] })
  // The top of an input is an object, and stays one unless it is hidden as a whole.
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? data : {}
}

function treatIssues(
  issues: readonly Issue[],
  rules: readonly DataRule[],
  text: (value: string) => string,
): readonly Issue[] {
  return issues.map((issue) => {
    const pointer = parsePointer(issue.pointer)
    const isProtected = rules.some(
      ({ pointers, classified }) =>
        classified?.covers(pointer) === true || pointers.some((segments) => isBelow(pointer, segments)),
    )
    const message = isProtected ? 'The value does not fit, and may not be shown.' : text(issue.message)
    return { ...issue, message }
  })
}

type TreatedOutput = Exclude<Treated, { failed: unknown }>

function treatOutput(given: ToolOutput, rules: readonly DataRule[], about: TreatmentFacts): Treated {
  if (rules.length === 0) return { output: given, metadata: {} }
  const hider = createTextHider(rules)
  const hide = (text: string): string => hider.text(text)
  const { data, misfits }: Partial<TreatedData> =
    given.data === undefined ? {} : treatData(given.data, rules, { hider, findIssues: about.findIssues })
  const treat = (after: Json | undefined): ToolOutput => ({
    ...given,
    ...treatRest(given, hide),
    content: treatContent(given.content, { before: given.data, after }, hide),
    ...(after !== undefined && { data: after }),
  })
  const output = treat(data)
  const failed = rules.filter((rule) => hider.failed.has(rule) || misfits?.includes(rule))
  if (failed.length === 0) return { output, metadata: {} }
  const ids = failed.map(({ id }) => id)
  return failed.some(({ onFailure }) => onFailure === 'deny')
    ? { failed: ids }
    : degrade(treat(undefined), withheldText(ids))
}

function degrade({ data: _data, ...rest }: ToolOutput, withheld: string): TreatedOutput {
  const content = [{ type: 'text' as const, text: withheld }, ...rest.content]
  return { output: toolOutput({ ...rest, content }), metadata: { withheld } }
}

interface Signature {
  readonly ids: readonly string[]
  readonly watermarks: readonly WatermarkRule[]
  readonly about: TreatmentFacts
}

/** Says which obligations there were, and adds what they add. */
function sign({ output, metadata }: TreatedOutput, { ids, watermarks, about }: Signature): TreatedOutput {
  const signed = { ...metadata, obligations: ids }
  if (watermarks.length === 0) return { output, metadata: signed }
  const watermark = watermarks.map((rule) => fillIn(rule.text, about)).join('\n')
  const content = [...output.content, { type: 'text' as const, text: watermark }]
  return { output: { ...output, content }, metadata: { ...signed, watermark } }
}

function fillIn(text: string, { tenant, actor, call, at }: TreatmentFacts): string {
  const facts: { readonly [name: string]: string } = { tenant, actor, call, at: new Date(at).toISOString() }
  return text.replace(/\{(tenant|actor|call|at)\}/g, (_, name: string) => facts[name] ?? '')
}
