-- Ready, Reconciling and Stalled, as kstatus reads them: what is tried again is in
-- progress, what is given up is degraded.
local hs = {status = "Progressing", message = "the controller has not looked at it yet"}
local status = obj.status or {}
local found = {}
for _, condition in ipairs(status.conditions or {}) do
  found[condition.type] = condition
end
local ready = found.Ready
if obj.metadata.deletionTimestamp ~= nil then
  hs.message = "it is being deleted"
  if ready ~= nil and ready.status == "False" then
    hs.message = ready.message
  end
  return hs
end
if status.observedGeneration ~= nil and status.observedGeneration ~= obj.metadata.generation then
  return hs
end
for _, wrong in ipairs({"Failed", "Stalled"}) do
  if found[wrong] ~= nil and found[wrong].status == "True" then
    return {status = "Degraded", message = found[wrong].message}
  end
end
if found.Reconciling ~= nil and found.Reconciling.status == "True" then
  hs.message = found.Reconciling.message
  return hs
end
if ready ~= nil and ready.status == "True" then
  return {status = "Healthy", message = ready.message}
end
if ready ~= nil then
  hs.message = ready.message
end
return hs
