-- The health of an object of modelplane.ai, from its conditions. The same rules are in ../flux/fleet.yaml.
local failures = { Accepted = true, BackendSelected = true, ClusterReady = true, ReplicasScheduled = true, Synced = true }
local conditions = obj.status ~= nil and obj.status.conditions or {}
local generation = obj.metadata.generation or 0

-- Conditions of an earlier generation say nothing about what is wanted now.
for _, condition in ipairs(conditions) do
  if (condition.type == "Ready" or condition.type == "Synced") and (condition.observedGeneration or generation) < generation then
    return { status = "Progressing", message = "generation " .. generation .. " is not decided yet" }
  end
end

for _, condition in ipairs(conditions) do
  if failures[condition.type] and condition.status == "False" then
    return { status = "Degraded", message = condition.message or condition.reason or condition.type }
  end
end

local waiting = "its functions have not run yet"
for _, condition in ipairs(conditions) do
  if condition.type == "Ready" and condition.status == "True" then
    return { status = "Healthy", message = condition.message or "" }
  end
  if condition.type == "Ready" then
    waiting = condition.message or condition.reason or "it is not ready"
  end
end
return { status = "Progressing", message = waiting }
