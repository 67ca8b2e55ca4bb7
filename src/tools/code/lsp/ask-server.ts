import { toUri, type Look } from './documents.ts'
import type { LanguageServer } from './language-server.ts'
import type { Answer, CodeItem, PlaceOperation, Question } from './question.ts'
import {
  listOf,
  readCalls,
  readDocumentSymbols,
  readHierarchyItem,
  readHover,
  readPlaces,
  readWorkspaceSymbols,
} from './read-answer.ts'

type Request = (method: string, params: object) => Promise<unknown>

/** What a question goes with. */
export interface Asking {
  readonly look: Look
  readonly signal: AbortSignal
  /** The file that a question without one of its own is asked from, so that the server knows which project is meant. */
  readonly anchor: string | undefined
}

/** Puts a question to a language server. Paths of the answer are as the server sent them, and not looked at yet. */
export function askServer(
  server: LanguageServer,
  question: Question,
  { look, signal, anchor }: Asking,
): Promise<Answer> {
  return server.ask({
    needs: capabilities[question.operation],
    path: question.path ?? anchor,
    look,
    signal,
    put: (request) => put(question, request),
    isEmpty: ({ items, hover }) => items.length === 0 && hover === undefined,
  })
}

async function put(question: Question, request: Request): Promise<Answer> {
  switch (question.operation) {
    case 'document_symbols': {
      const uri = toUri(question.path)
      return found(
        readDocumentSymbols(await request('textDocument/documentSymbol', { textDocument: { uri } }), uri),
      )
    }
    case 'workspace_symbols':
      return found(readWorkspaceSymbols(await request('workspace/symbol', { query: question.query })))
    default: {
      const place = {
        textDocument: { uri: toUri(question.path) },
        position: { line: question.line - 1, character: question.character - 1 },
      }
      return putPlace(question.operation, place, request)
    }
  }
}

async function putPlace(operation: PlaceOperation, place: object, request: Request): Promise<Answer> {
  switch (operation) {
    case 'definition':
      return found(readPlaces(await request('textDocument/definition', place)))
    case 'implementation':
      return found(readPlaces(await request('textDocument/implementation', place)))
    case 'references': {
      const context = { includeDeclaration: true }
      return found(readPlaces(await request('textDocument/references', { ...place, context })))
    }
    case 'hover': {
      const hover = readHover(await request('textDocument/hover', place))
      return { items: [], truncated: false, ...(hover !== undefined && { hover }) }
    }
    default:
      return putHierarchy(operation, await request('textDocument/prepareCallHierarchy', place), request)
  }
}

/** Several functions may stand at one place; no more than this are asked about. */
const maxPrepared = 5

async function putHierarchy(
  operation: 'prepare_call_hierarchy' | 'incoming_calls' | 'outgoing_calls',
  answer: unknown,
  request: Request,
): Promise<Answer> {
  const prepared = listOf(answer).slice(0, maxPrepared)
  if (operation === 'prepare_call_hierarchy') return found(prepared.flatMap(readHierarchyItem))
  const [method, end] =
    operation === 'incoming_calls'
      ? (['callHierarchy/incomingCalls', 'from'] as const)
      : (['callHierarchy/outgoingCalls', 'to'] as const)
  const calls: CodeItem[] = []
  for (const item of prepared) calls.push(...readCalls(await request(method, { item }), end))
  return found(calls)
}

function found(items: readonly CodeItem[]): Answer {
  return { items, truncated: false }
}

const capabilities: { readonly [operation in Question['operation']]: string } = {
  definition: 'definitionProvider',
  references: 'referencesProvider',
  hover: 'hoverProvider',
  document_symbols: 'documentSymbolProvider',
  workspace_symbols: 'workspaceSymbolProvider',
  implementation: 'implementationProvider',
  prepare_call_hierarchy: 'callHierarchyProvider',
  incoming_calls: 'callHierarchyProvider',
  outgoing_calls: 'callHierarchyProvider',
}
