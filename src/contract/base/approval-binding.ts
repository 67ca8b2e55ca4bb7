/** What an approval is bound to. It holds once, until it expires, for exactly this. */
export interface ApprovalBinding {
  principal: string
  inputDigest: string
  definitionDigest: string
  policyDigest: string
  previewDigest: string
}
