import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import type { Door } from '../../scripts/doors.ts'

const root = fileURLToPath(new URL('../../src', import.meta.url))

/** A name that a door exports, with where it is declared. */
export interface PublicName {
  readonly name: string
  readonly isType: boolean
  readonly declared: Declared
}

/** A declaration of a file, known by its name there. */
interface Declared {
  readonly file: string
  readonly local: string
}

interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

interface Source {
  /** Where a local name comes from: another file, or a package. */
  readonly imports: ReadonlyMap<string, { from: string; name: string }>
  /** What a name that is exported means here, or in another file. */
  readonly exports: ReadonlyMap<string, { from?: string; name: string; isType: boolean }>
  readonly declarations: ReadonlyMap<string, readonly Node[]>
}

const sources = new Map<string, Source>()

/** Every name of a door, in the order of its letters. */
export function listNames({ file }: Pick<Door, 'file'>): readonly PublicName[] {
  const path = join(root, `${file}.ts`)
  return [...readSource(path).exports]
    .map(([name, { isType }]) => ({ name, isType, declared: findDeclared(path, name) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** What the declaration of a public name names: types of this project, packages, and what is wrong with it. */
export function readDeclaration({ name, declared }: PublicName): Shown {
  const found: Shown = { types: [], packages: new Set(), issues: [], seen: new Set() }
  read(name, declared, found)
  return found
}

/** What a declaration shows to those that use it. */
interface Shown {
  readonly types: Declared[]
  readonly packages: Set<string>
  readonly issues: string[]
  /** Declarations that were looked at, by their names. */
  readonly seen: Set<string>
}

function read(name: string, declared: Declared, found: Shown): void {
  if (found.seen.has(declared.local)) return
  found.seen.add(declared.local)
  const source = readSource(declared.file)
  for (const node of visible(source.declarations.get(declared.local) ?? [])) {
    const names = new Set<string>()
    const own = new Set<string>()
    collect(node, { names, own, issue: (what) => found.issues.push(`${name}: ${what}`) })
    for (const each of names) {
      if (own.has(each)) continue
      const imported = source.imports.get(each)
      if (imported?.from.startsWith('/') === true)
        found.types.push(findDeclared(imported.from, imported.name))
      else if (imported !== undefined) found.packages.add(imported.from)
      else if (isComputation(source, each)) read(name, { file: declared.file, local: each }, found)
      else if (source.declarations.has(each)) found.types.push({ file: declared.file, local: each })
    }
  }
}

/** Those that callers see: of a function with overloads, not the one that has the code. */
function visible(nodes: readonly Node[]): readonly Node[] {
  const overloads = nodes.filter(({ type }) => type === 'TSDeclareFunction')
  return overloads.length > 0 ? overloads : nodes
}

/** Whether this only makes a type of another, inside one file: what it stands for counts as if it stood where it is used. */
function isComputation({ declarations, exports }: Source, name: string): boolean {
  const [node] = declarations.get(name) ?? []
  return node?.type === 'TSTypeAliasDeclaration' && node['typeParameters'] !== null && !exports.has(name)
}

/** One text for each declaration. */
export function identify({ file, local }: Declared): string {
  return `${file.slice(root.length + 1)} ${local}`
}

function findDeclared(file: string, name: string): Declared {
  const { exports, imports } = readSource(file)
  const found = exports.get(name)
  if (found === undefined) throw new Error(`${file} does not export ${name}.`)
  const { from, name: local } = found.from === undefined ? (imports.get(found.name) ?? found) : found
  return from === undefined ? { file, local } : findDeclared(from, local)
}

function readSource(file: string): Source {
  let source = sources.get(file)
  if (source === undefined) sources.set(file, (source = parse(file)))
  return source
}

function parse(file: string): Source {
  const { program, module } = parseSync(file, readFileSync(file, 'utf8'))
  const target = (specifier: string) =>
    specifier.startsWith('.') ? resolve(dirname(file), specifier) : specifier
  const imports = new Map<string, { from: string; name: string }>()
  for (const { moduleRequest, entries } of module.staticImports)
    for (const { importName, localName } of entries)
      imports.set(localName.value, { from: target(moduleRequest.value), name: importName.name ?? '*' })
  const exports = new Map<string, { from?: string; name: string; isType: boolean }>()
  for (const { entries } of module.staticExports)
    for (const { exportName, importName, localName, moduleRequest, isType } of entries)
      exports.set(exportName.name ?? 'default', {
        ...(moduleRequest !== null && { from: target(moduleRequest.value) }),
        name: importName.name ?? localName.name ?? '',
        isType,
      })
  const declarations = new Map<string, Node[]>()
  for (const statement of program.body as unknown as readonly Node[]) {
    const node = (statement['declaration'] ?? statement) as Node
    const declared = node.type === 'VariableDeclaration' ? (node['declarations'] as Node[]) : [node]
    for (const each of declared) {
      const { name } = (each['id'] ?? {}) as { name?: string }
      if (name !== undefined) declarations.set(name, [...(declarations.get(name) ?? []), each])
    }
  }
  return { imports, exports, declarations }
}

interface Collected {
  readonly names: Set<string>
  /** Parameters of types. */
  readonly own: Set<string>
  readonly issue: (what: string) => void
}

/** Fields that no declaration shows. */
const hidden = new Set(['body', 'init', 'right', 'value', 'superClass', 'decorators'])

/** Gathers the names that the declaration of a thing shows: the types of its parameters, of what it returns, of its members. */
function collect(node: unknown, to: Collected): void {
  if (Array.isArray(node)) {
    for (const each of node) collect(each, to)
    return
  }
  if (typeof node !== 'object' || node === null || !('type' in node)) return
  const here = node as Node
  if (here['accessibility'] === 'private') return
  if ((here['key'] as Node | undefined)?.type === 'PrivateIdentifier') return
  const see = (field: string) => collect(here[field], to)
  switch (here.type) {
    case 'TSTypeReference':
      addName(here['typeName'] as Node, to)
      return see('typeArguments')
    case 'TSTypeQuery':
      // Of a value, which no type has to name.
      return
    case 'TSInterfaceHeritage':
    case 'TSClassImplements':
      addName(here['expression'] as Node, to)
      return see('typeArguments')
    case 'TSTypeParameter':
      to.own.add((here['name'] as { name: string }).name)
      break
    case 'TSMappedType':
      to.own.add((here['key'] as { name: string }).name)
      break
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
      if (here['returnType'] === null) to.issue('says no type for what it returns')
      break
    case 'ClassDeclaration':
      if (here['superClass'] !== null) addName(here['superClass'] as Node, to)
      see('superTypeArguments')
      see('implements')
      see('typeParameters')
      return collect((here['body'] as Node)['body'], to)
    case 'MethodDefinition':
      return collectFunction(here['value'] as Node, here['kind'] !== 'constructor', to)
    case 'PropertyDefinition':
      if (here['typeAnnotation'] === null && !isPlain(here['value'])) to.issue('has a field without a type')
      return see('typeAnnotation')
    case 'VariableDeclarator':
      return collectVariable(here, to)
    case 'TSInterfaceDeclaration':
      see('extends')
      see('typeParameters')
      return collect((here['body'] as Node)['body'], to)
    case 'AssignmentPattern':
      return see('left')
  }
  for (const [field, value] of Object.entries(here)) if (!hidden.has(field)) collect(value, to)
}

function collectFunction(node: Node, returns: boolean, to: Collected): void {
  if (returns && node['returnType'] === null) to.issue('has a method that says no type for what it returns')
  for (const field of ['typeParameters', 'params', 'returnType']) collect(node[field], to)
}

function collectVariable(node: Node, to: Collected): void {
  const { typeAnnotation } = node['id'] as Node
  if (typeAnnotation !== undefined && typeAnnotation !== null) return collect(typeAnnotation, to)
  if (!isPlain(node['init'])) to.issue('has no type')
}

/** Whether a value says its type by itself. */
function isPlain(value: unknown): boolean {
  const { type, expression } = value as Node
  if (type === 'TSSatisfiesExpression') return isPlain(expression)
  return ['Literal', 'TemplateLiteral', 'TSAsExpression'].includes(type)
}

/** The first name of `Some.Thing`. */
function addName(node: Node, to: Collected): void {
  if (node.type === 'Identifier') to.names.add(node['name'] as string)
  else if (node.type === 'TSQualifiedName') addName(node['left'] as Node, to)
  else if (node.type === 'TSImportType') to.issue('names a type by its file')
}
