const things = ['invoice', 'customer', 'shipment', 'ticket', 'article', 'contract', 'booking', 'asset']
const verbs = ['create', 'update', 'find', 'list', 'archive']

/** Tools as a server of some product has them: each with a schema of about a kilobyte. */
export function makeToolList(count: number) {
  return Array.from({ length: count }, (_, index) => makeTool(index))
}

function makeTool(index: number) {
  const thing = things[index % things.length] ?? ''
  const verb = verbs[index % verbs.length] ?? ''
  const text = (description: string) => ({ type: 'string' as const, description, maxLength: 400 })
  return {
    name: `${verb}_${thing}_${index}`,
    title: `${verb} ${thing} ${index}`,
    description: `${verb}s one ${thing} of collection ${index} in the workspace, by its id or by what is known of it. Gives the ${thing} as it is then. Needs the scope ${thing}s:write.`,
    inputSchema: {
      type: 'object' as const,
      properties: {
        id: text(`The id of the ${thing}, such as "${thing.slice(0, 3)}_${index}".`),
        title: text(`What the ${thing} is called where people see it.`),
        state: {
          type: 'string',
          enum: ['draft', 'open', 'waiting', 'closed'],
          description: `Where the ${thing} stands.`,
        },
        amount: { type: 'number', minimum: 0, description: 'In the currency of the workspace.' },
        labels: { type: 'array', items: text('One label.'), maxItems: 20, description: 'All of them.' },
        owner: {
          type: 'object',
          properties: { email: text('Where the owner is reached.'), team: text('The team of the owner.') },
          required: ['email'],
          additionalProperties: false,
          description: `Who looks after the ${thing}.`,
        },
        notify: { type: 'boolean', default: false, description: 'Whether its followers are told.' },
      },
      required: ['id', 'state'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: verb === 'find' || verb === 'list', openWorldHint: false },
  }
}
