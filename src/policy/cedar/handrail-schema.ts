/**
 * What Handrail tells Cedar of a call, as a Cedar schema. Hand it in as `schema`, whole or as the start of a larger one, and policies
 * that speak of something else are refused when the decision point is made.
 */
export const handrailSchema = `namespace Handrail {
  entity Tenant;
  entity Role;
  entity Group in [Group];
  entity Actor in [Tenant, Role, Group] = { tenant: String, name: String, role: String };

  entity ToolGroup in [ToolGroup];
  entity Tool in [ToolGroup] = {
    name: String,
    version: String,
    permission: String,
    sideEffect: String,
    safety: String,
    tags: Set<String>,
  };

  entity Folder in [Folder];
  entity File in [Folder] = { path: String, name: String, recursive: Bool };
  entity Program in [Folder] = { path: String, name: String, argv: String, cwd: String };
  entity Domain in [Domain];
  entity Host in [Domain] = { name: String, url: String };
  entity Resource = { urn: String };

  type Call = { mode: String, origin: String, session: String, tool: Tool };

  action invoke appliesTo { principal: [Actor], resource: [Tool], context: Call };
  action read, write appliesTo { principal: [Actor], resource: [File], context: Call };
  action execute appliesTo { principal: [Actor], resource: [Program], context: Call };
  action connect appliesTo { principal: [Actor], resource: [Host], context: Call };
  action use appliesTo { principal: [Actor], resource: [Resource], context: Call };
}
`
