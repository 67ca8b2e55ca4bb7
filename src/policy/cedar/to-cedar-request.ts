import type { AuthorisationRequest } from '../../contract/decision-point.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { Principal } from '../../contract/base/principal.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import type { CedarEntity, CedarUid, CedarValue } from './cedar-entity.ts'

/** A question as Cedar takes it. */
export interface CedarRequest {
  principal: CedarUid
  action: CedarUid
  resource: CedarUid
  context: { [name: string]: CedarValue }
  /** What the question itself tells of the actor, the tool and the thing to be reached. */
  entities: readonly CedarEntity[]
}

/** Translates a question. What is not a file, a program or a host is a `Resource`, known by its URN. */
export function toCedarRequest(request: AuthorisationRequest): CedarRequest {
  const { action, mode, origin, session, operation } = request
  const actor = toActor(request.principal)
  const tool = toTool(request.definition)
  const reached = operation === undefined ? undefined : toReached(operation)
  const resource = reached ?? (action === 'invoke' ? tool : toResource(request.resource))
  return {
    principal: actor.uid,
    action: uid('Action', action),
    resource: resource.uid,
    context: { mode, origin, session, tool: { __entity: tool.uid } },
    entities: resource === tool ? [actor, tool] : [actor, tool, resource],
  }
}

function uid(type: string, id: string): CedarUid {
  return { type: `Handrail::${type}`, id }
}

/** A slash is in no id of a tenant or an actor, so no two actors have one name. */
function toActor({ tenant, actor, role }: Principal): CedarEntity {
  return {
    uid: uid('Actor', `${tenant}/${actor}`),
    attrs: { tenant, name: actor, role },
    parents: [uid('Tenant', tenant), uid('Role', role)],
  }
}

/** A tool is in the groups that its dotted name begins with. */
function toTool({ name, version, permission, sideEffect, safety, tags }: ToolDefinition): CedarEntity {
  const parts = name.split('.')
  return {
    uid: uid('Tool', name),
    attrs: { name, version, permission, sideEffect, safety, tags },
    parents: parts.slice(1).map((_, index) => uid('ToolGroup', parts.slice(0, index + 1).join('.'))),
  }
}

function toReached(operation: Operation): CedarEntity {
  switch (operation.kind) {
    case 'fs.read':
      return toFile(operation.path, operation.recursive ?? false)
    case 'fs.write':
      return toFile(operation.path, false)
    case 'process': {
      const { executable: path, argv, cwd } = operation
      const attrs = { path, name: baseName(path), argv: JSON.stringify(argv), cwd }
      return { uid: uid('Program', path), attrs, parents: foldersOf(path) }
    }
    case 'net': {
      const { host: name, url } = operation
      return { uid: uid('Host', name), attrs: { name, url }, parents: domainsOf(name) }
    }
    case 'other':
      return toResource(operation.resource)
  }
}

function toResource(urn: string): CedarEntity {
  return { uid: uid('Resource', urn), attrs: { urn } }
}

function toFile(path: string, recursive: boolean): CedarEntity {
  return {
    uid: uid('File', path),
    attrs: { path, name: baseName(path), recursive },
    parents: foldersOf(path),
  }
}

/** A path is in every folder above it, and in the folder that it may be itself. */
function foldersOf(path: string): CedarUid[] {
  const folders = [uid('Folder', path)]
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    folders.push(uid('Folder', path.slice(0, end)))
  return path === '/' ? folders : [...folders, uid('Folder', '/')]
}

/** A host is in every domain that its name ends with, label by label; an address is in itself only. */
function domainsOf(name: string): CedarUid[] {
  if (/^[\d.]+$|:/.test(name)) return [uid('Domain', name)]
  const labels = name.split('.')
  return labels.map((_, index) => uid('Domain', labels.slice(index).join('.')))
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
