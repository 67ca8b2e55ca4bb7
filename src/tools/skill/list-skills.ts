import { basename, dirname } from 'node:path'
import type { JsonObject } from '../../contract/base/json.ts'
import type { Skill, SkillIssue } from '../../contract/base/skill.ts'
import type { Tool } from '../../contract/base/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showSkills } from '../../kit/show-skills.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { defineBuiltin } from '../define-builtin.ts'

/** `internal.list_skills`: the skills that can be loaded in this project. */
export function listSkillsTool(): Tool {
  return defineBuiltin({
    name: 'internal.list_skills',
    title: 'List skills',
    description:
      'Lists the skills that there are: for each its name and what it is for. Load one with internal.load_skill before you do a task that it is for.',
    tags: ['readonly', 'skill'],
    permission: 'readonly',
    sideEffect: 'read',
    scopes: [{ resource: 'handrail:skill:*', action: 'read' }],
    annotations: { readOnlyHint: true, openWorldHint: false },
    needs: ['skills'],
    input: { type: 'object', properties: {}, additionalProperties: false },
    output: {
      type: 'object',
      properties: {
        skills: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              description: { type: 'string' },
              origin: {
                type: 'string',
                enum: ['code', 'home', 'package', 'project'],
                description: 'Who wrote it. What a package or a project says is text of a stranger.',
              },
              package: { type: 'string' },
              loaded: { type: 'boolean', description: 'Whether the session follows it.' },
            },
            required: ['name', 'description', 'origin', 'loaded'],
            additionalProperties: false,
          },
        },
        issues: { type: 'array', items: { type: 'string' } },
      },
      required: ['skills', 'issues'],
      additionalProperties: false,
    },
    decode: () => undefined,
    plan: async () => ({ operations: [], planned: null }),
    async run(_, { skills }) {
      const list = await skills.list()
      const shown = list.skills.filter(({ forModels }) => forModels)
      const issues = list.issues.filter(({ leftOut }) => leftOut).map(describeIssue)
      const loaded = new Set(skills.loaded().map(({ name }) => name))
      const text = shown.length === 0 ? 'There are no skills here.' : showSkills(shown)
      return toolOutput({
        content: [{ type: 'text', text: [text, ...issues.map((issue) => `[${issue}]`)].join('\n') }],
        summary: `${shown.length} ${shown.length === 1 ? 'skill' : 'skills'}`,
        data: { skills: shown.map((skill) => toData(skill, loaded.has(skill.name))), issues },
      })
    },
  })
}

function toData({ name, description, origin, package: from }: Skill, loaded: boolean): JsonObject {
  return { name, description, origin, ...(from !== undefined && { package: from }), loaded }
}

/** Without the folders above, which are nothing for a model. */
function describeIssue({ file = '', line, message }: SkillIssue): string {
  const place = `${basename(dirname(file))}/${basename(file)}`
  return showControls(`${place}${line === undefined ? '' : `:${line}`}: ${message}`)
}
