-- A type of which two plans claim to be the default needs a user to decide; one
-- without a default is as healthy as its operator wants it.
local status = obj.status or {}
if obj.metadata.deletionTimestamp == nil and status.observedGeneration == obj.metadata.generation then
  for _, condition in ipairs(status.conditions or {}) do
    if condition.type == "Ambiguous" and condition.status == "True" then
      return {status = "Degraded", message = condition.message}
    end
  end
  return {status = "Healthy", message = ""}
end
return {status = "Progressing", message = "the keeper has not looked at it yet"}
