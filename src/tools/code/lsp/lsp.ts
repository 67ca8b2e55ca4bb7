import { dirname } from 'node:path'
import type { LanguageServerConfiguration } from '../../../contract/configuration.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { PlanContext } from '../../../contract/tool/plan.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import type { ContextWith } from '../../../define/tool-spec.ts'
import { isInside } from '../../../kit/match/is-inside.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { checkPath } from '../base/check-path.ts'
import { countOf } from '../base/count-of.ts'
import { exclusionsFor } from '../base/exclusions.ts'
import { pathField, readsFiles } from '../base/fields.ts'
import { fileNotFound } from '../base/file-not-found.ts'
import { invalidInput } from '../base/invalid-input.ts'
import { askServer } from './ask-server.ts'
import { chooseServer, type Chosen } from './choose-server.ts'
import type { Look } from './documents.ts'
import { listServers, type ServerChoice } from './known-servers.ts'
import { createLanguageServer } from './language-server.ts'
import { answerSchema, compatiblePresentation } from './presentations.ts'
import { operations, type Answer, type Operation, type Question } from './question.ts'
import { searchCode } from './search-code.ts'
import { ServerTrouble } from './server-trouble.ts'
import { showItems, toData, toShown, type ShownAnswer } from './show-answer.ts'
import { showPath } from '../base/show-path.ts'

interface Asked {
  readonly question: Question
  readonly limit: number
}

interface Planned {
  readonly question: Question
  readonly root: string
  readonly chosen: Chosen
}

/** Which way an answer came, and where not by a language server, why. */
interface Way {
  readonly server: string | undefined
  readonly why: string | undefined
}

/** `code.lsp`: what a language server knows of a place, a file or a name; without a server, what a search finds. */
export function lspTool(configured?: { readonly [name: string]: LanguageServerConfiguration }): Tool {
  const servers = listServers(configured)
  return defineBuiltin({
    name: 'code.lsp',
    title: 'Ask about code',
    description:
      'Answers questions about code by a language server, or by a search where there is none; source says which. definition, references, hover, implementation, prepare_call_hierarchy, incoming_calls and outgoing_calls need path, line and character (both from 1; character in UTF-16 units); document_symbols needs path; workspace_symbols needs query. Returns 100 places unless limit says otherwise.',
    ...readsFiles,
    // The server runs with the roots of the call, all read-only.
    capabilities: { fs: { read: ['*'] }, proc: { executables: ['*'] } },
    limits: { timeoutMs: 90_000, maxFiles: 1_000, maxDepth: 64 },
    needs: ['files', 'search', 'sessionResources'],
    input: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: operations },
        path: pathField,
        line: { type: 'integer', minimum: 1, maximum: 100_000_000, description: 'From 1.' },
        character: {
          type: 'integer',
          minimum: 1,
          maximum: 100_000_000,
          description: 'Column, from 1, in UTF-16 units.',
        },
        query: { type: 'string', minLength: 1, maxLength: 500, description: 'A name, or a part of one.' },
        limit: { type: 'integer', minimum: 1, maximum: 500, default: 100 },
      },
      required: ['operation'],
      additionalProperties: false,
    },
    output: answerSchema,
    compatible: compatiblePresentation,
    decode: ({ limit, ...input }): Asked => ({ question: toQuestion(input), limit }),
    plan: ({ question }, context) => planQuestion(question, servers, context),
    run: ({ limit }, context) => answer(limit, context),
  })
}

function toQuestion(input: {
  readonly operation: Operation
  readonly path?: string
  readonly line?: number
  readonly character?: number
  readonly query?: string
}): Question {
  const { operation, path, line, character, query } = input
  const refuse = (wanted: string) => invalidInput(`"${operation}" needs ${wanted}.`)
  if (operation === 'workspace_symbols') {
    if (query === undefined) throw refuse('query: the name, or a part of it')
    return { operation, path, query }
  }
  if (operation === 'document_symbols') {
    if (path === undefined) throw refuse('path')
    return { operation, path }
  }
  if (path === undefined || line === undefined || character === undefined)
    throw refuse('path, line and character: the place of a name, both counted from 1')
  return { operation, path, line, character }
}

type LspContext = ContextWith<'files' | 'search' | 'sessionResources', Planned>

async function planQuestion(
  question: Question,
  servers: readonly ServerChoice[],
  { files, commands, search }: PlanContext,
) {
  const project = await files.resolve('.', 'read')
  const asked = question.path
  const path = asked === undefined ? undefined : await files.resolve(asked, 'read')
  const root = path === undefined || isInside(path, project) ? project : dirname(path)
  const chosen = await chooseServer(path, servers, { commands, search, root })
  const planned: Planned = { question: path === undefined ? question : { ...question, path }, root, chosen }
  return {
    operations: [
      { kind: 'fs.read', path: root, recursive: true },
      ...(path === undefined ? [] : [{ kind: 'fs.read', path } as const]),
      ...(chosen.server === undefined
        ? []
        : [
            {
              kind: 'process',
              executable: chosen.executable,
              argv: chosen.server.command,
              cwd: root,
            } as const,
          ]),
    ] as const,
    scope: root,
    planned,
  }
}

async function answer(limit: number, context: LspContext) {
  const { files, search, project, planned } = context
  const { question, root } = planned
  const { path } = question
  if (path !== undefined) {
    await checkPath(files, path, 'read')
    if ((await files.stat(path))?.kind !== 'file') throw await fileNotFound(files, project, path)
  }
  const look: Look = {
    files,
    search,
    root,
    project,
    exclude: exclusionsFor(path ?? root, context.sensitiveGlobs),
  }
  const { found, way } = await findAnswer(context, look, limit)
  return toOutput(await toShown(found, look, limit), way, { question, project })
}

async function findAnswer(
  { planned: { question, root, chosen }, sessionResources, signal }: LspContext,
  look: Look,
  limit: number,
): Promise<{ found: Answer; way: Way }> {
  const extensions = chosen.server?.extensions ?? []
  const search = async (why: string) => ({
    found: await searchCode(question, { look, limit: limit + 1, extensions }),
    way: { server: undefined, why },
  })
  if (chosen.server === undefined) return search(chosen.why)
  const { server: choice, executable } = chosen
  try {
    const server = sessionResources.getOrOpen(JSON.stringify([choice, root]), (context) =>
      createLanguageServer({ ...context, choice, executable, root }),
    )
    const anchor = chosen.anchor === undefined ? undefined : await look.files.resolve(chosen.anchor, 'read')
    const found = await askServer(server, question, { look, anchor, signal })
    return { found, way: { server: choice.name, why: undefined } }
  } catch (error) {
    if (error instanceof ServerTrouble)
      return search(`the language server "${choice.name}" could not answer: ${error.message}`)
    // A budget that would not see what the server spends forbids the server, not the question.
    if (error instanceof ToolFailure && error.code === 'QUOTA.BUDGET_EXCEEDED') return search(error.message)
    throw error
  }
}

function toOutput(
  shown: ShownAnswer,
  { server, why }: Way,
  { question, project }: { question: Question; project: string },
) {
  const { items, hover, truncated, leftOut } = shown
  const source = server === undefined ? 'search' : 'language-server'
  const by = server === undefined ? `by search: ${why}` : `by the language server "${server}"`
  const nothing = items.length === 0 && hover === undefined
  const summary = nothing ? 'Nothing found' : hover === undefined ? countOf(items.length, 'place') : 'Found'
  const lines = [
    ...(hover === undefined ? [] : [showControls(hover)]),
    ...showItems(items, project),
    ...(nothing ? [`[${summary}]`] : []),
    ...(truncated ? ['[More places follow: ask for less, or for more at a time.]'] : []),
    ...(leftOut > 0 ? [`[${countOf(leftOut, 'place')} outside of the project or sensitive, left out.]`] : []),
    `[Answered ${showControls(by)}]`,
  ]
  const way = {
    source,
    ...(server !== undefined && { server }),
    ...(why !== undefined && { why }),
  }
  return toolOutput({
    content: lines.join('\n'),
    summary,
    data: {
      operation: question.operation,
      ...way,
      ...(question.path !== undefined && { path: showPath(project, question.path) }),
      items: items.map((item) => toData(item, project)),
      ...(hover !== undefined && { hover }),
      truncated,
      left_out: leftOut,
    },
    metadata: way,
  })
}
