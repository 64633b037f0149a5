"""The declarations of the functions that a selector may call, one overload a line.

Source: the environment that k8s.io/dynamic-resource-allocation v0.36.2 builds for selectors. Each section is headed
by its name and the Kubernetes 1.x that introduced it (0: always there). A line has the name, the overload identifier,
the argument types and the result type. A leading dot marks a member function; its receiver is the first argument. The
order of overloads is significant: the first that fits decides the type of a call. `signatures` reads the table.
"""

from __future__ import annotations

from typing import Final

TABLE: Final = """
# standard 0
!_ | logical_not | bool | bool
-_ | negate_double | double | double
-_ | negate_int64 | int | int
@in | in_list | A, list(A) | bool
@in | in_map | A, map(A, B) | bool
@not_strictly_false | not_strictly_false | bool | bool
_!=_ | not_equals | A, A | bool
_%_ | modulo_int64 | int, int | int
_%_ | modulo_uint64 | uint, uint | uint
_&&_ | logical_and | bool, bool | bool
_*_ | multiply_double | double, double | double
_*_ | multiply_int64 | int, int | int
_*_ | multiply_uint64 | uint, uint | uint
_+_ | add_bytes | bytes, bytes | bytes
_+_ | add_double | double, double | double
_+_ | add_duration_duration | Duration, Duration | Duration
_+_ | add_duration_timestamp | Duration, Timestamp | Timestamp
_+_ | add_timestamp_duration | Timestamp, Duration | Timestamp
_+_ | add_int64 | int, int | int
_+_ | add_list | list(A), list(A) | list(A)
_+_ | add_string | string, string | string
_+_ | add_uint64 | uint, uint | uint
_-_ | subtract_double | double, double | double
_-_ | subtract_duration_duration | Duration, Duration | Duration
_-_ | subtract_int64 | int, int | int
_-_ | subtract_timestamp_duration | Timestamp, Duration | Timestamp
_-_ | subtract_timestamp_timestamp | Timestamp, Timestamp | Duration
_-_ | subtract_uint64 | uint, uint | uint
_/_ | divide_double | double, double | double
_/_ | divide_int64 | int, int | int
_/_ | divide_uint64 | uint, uint | uint
_==_ | equals | A, A | bool
_?_:_ | conditional | bool, A, A | A
_[_] | index_list | list(A), int | A
_[_] | index_map | map(A, B), A | B
_||_ | logical_or | bool, bool | bool
bool | bool_to_bool | bool | bool
bool | string_to_bool | string | bool
bytes | bytes_to_bytes | bytes | bytes
bytes | string_to_bytes | string | bytes
.contains | contains_string | string, string | bool
double | double_to_double | double | double
double | int64_to_double | int | double
double | string_to_double | string | double
double | uint64_to_double | uint | double
duration | duration_to_duration | Duration | Duration
duration | int64_to_duration | int | Duration
duration | string_to_duration | string | Duration
dyn | to_dyn | A | dyn
.endsWith | ends_with_string | string, string | bool
.getDate | timestamp_to_day_of_month_1_based | Timestamp | int
.getDate | timestamp_to_day_of_month_1_based_with_tz | Timestamp, string | int
.getDayOfMonth | timestamp_to_day_of_month | Timestamp | int
.getDayOfMonth | timestamp_to_day_of_month_with_tz | Timestamp, string | int
.getDayOfWeek | timestamp_to_day_of_week | Timestamp | int
.getDayOfWeek | timestamp_to_day_of_week_with_tz | Timestamp, string | int
.getDayOfYear | timestamp_to_day_of_year | Timestamp | int
.getDayOfYear | timestamp_to_day_of_year_with_tz | Timestamp, string | int
.getFullYear | timestamp_to_year | Timestamp | int
.getFullYear | timestamp_to_year_with_tz | Timestamp, string | int
.getHours | timestamp_to_hours | Timestamp | int
.getHours | timestamp_to_hours_with_tz | Timestamp, string | int
.getHours | duration_to_hours | Duration | int
.getMilliseconds | timestamp_to_milliseconds | Timestamp | int
.getMilliseconds | timestamp_to_milliseconds_with_tz | Timestamp, string | int
.getMilliseconds | duration_to_milliseconds | Duration | int
.getMinutes | timestamp_to_minutes | Timestamp | int
.getMinutes | timestamp_to_minutes_with_tz | Timestamp, string | int
.getMinutes | duration_to_minutes | Duration | int
.getMonth | timestamp_to_month | Timestamp | int
.getMonth | timestamp_to_month_with_tz | Timestamp, string | int
.getSeconds | timestamp_to_seconds | Timestamp | int
.getSeconds | timestamp_to_seconds_tz | Timestamp, string | int
.getSeconds | duration_to_seconds | Duration | int
int | int64_to_int64 | int | int
int | double_to_int64 | double | int
int | duration_to_int64 | Duration | int
int | string_to_int64 | string | int
int | timestamp_to_int64 | Timestamp | int
int | uint64_to_int64 | uint | int
matches | matches | string, string | bool
.matches | matches_string | string, string | bool
size | size_bytes | bytes | int
.size | bytes_size | bytes | int
size | size_list | list(A) | int
.size | list_size | list(A) | int
size | size_map | map(A, B) | int
.size | map_size | map(A, B) | int
size | size_string | string | int
.size | string_size | string | int
.startsWith | starts_with_string | string, string | bool
string | string_to_string | string | string
string | bool_to_string | bool | string
string | bytes_to_string | bytes | string
string | double_to_string | double | string
string | duration_to_string | Duration | string
string | int64_to_string | int | string
string | timestamp_to_string | Timestamp | string
string | uint64_to_string | uint | string
timestamp | timestamp_to_timestamp | Timestamp | Timestamp
timestamp | int64_to_timestamp | int | Timestamp
timestamp | string_to_timestamp | string | Timestamp
type | type | A | type(A)
uint | uint64_to_uint64 | uint | uint
uint | double_to_uint64 | double | uint
uint | int64_to_uint64 | int | uint
uint | string_to_uint64 | string | uint
# lists of Kubernetes 0
.indexOf | list_a_index_of_int | list(A), A | int
.isSorted | list_int_is_sorted_bool | list(int) | bool
.isSorted | list_uint_is_sorted_bool | list(uint) | bool
.isSorted | list_double_is_sorted_bool | list(double) | bool
.isSorted | list_bool_is_sorted_bool | list(bool) | bool
.isSorted | list_duration_is_sorted_bool | list(Duration) | bool
.isSorted | list_timestamp_is_sorted_bool | list(Timestamp) | bool
.isSorted | list_string_is_sorted_bool | list(string) | bool
.isSorted | list_bytes_is_sorted_bool | list(bytes) | bool
.lastIndexOf | list_a_last_index_of_int | list(A), A | int
.max | list_int_max_int | list(int) | int
.max | list_uint_max_uint | list(uint) | uint
.max | list_double_max_double | list(double) | double
.max | list_bool_max_bool | list(bool) | bool
.max | list_duration_max_duration | list(Duration) | Duration
.max | list_timestamp_max_timestamp | list(Timestamp) | Timestamp
.max | list_string_max_string | list(string) | string
.max | list_bytes_max_bytes | list(bytes) | bytes
.min | list_int_min_int | list(int) | int
.min | list_uint_min_uint | list(uint) | uint
.min | list_double_min_double | list(double) | double
.min | list_bool_min_bool | list(bool) | bool
.min | list_duration_min_duration | list(Duration) | Duration
.min | list_timestamp_min_timestamp | list(Timestamp) | Timestamp
.min | list_string_min_string | list(string) | string
.min | list_bytes_min_bytes | list(bytes) | bytes
.sum | list_int_sum_int | list(int) | int
.sum | list_uint_sum_uint | list(uint) | uint
.sum | list_double_sum_double | list(double) | double
.sum | list_duration_sum_duration | list(Duration) | Duration
# regex 0
.find | string_find_string | string, string | string
.findAll | string_find_all_string | string, string | list(string)
.findAll | string_find_all_string_int | string, string, int | list(string)
# urls 0
.getEscapedPath | url_get_escaped_path | k8s.URL | string
.getHost | url_get_host | k8s.URL | string
.getHostname | url_get_hostname | k8s.URL | string
.getPort | url_get_port | k8s.URL | string
.getQuery | url_get_query | k8s.URL | map(string, list(string))
.getScheme | url_get_scheme | k8s.URL | string
isURL | is_url_string | string | bool
url | string_to_url | string | k8s.URL
# authz 27
.allowed | decision_allowed | k8s.authorization.Decision | bool
.check | pathcheck_check | k8s.authorization.PathCheck, string | k8s.authorization.Decision
.check | resourcecheck_check | k8s.authorization.ResourceCheck, string | k8s.authorization.Decision
.error | decision_error | k8s.authorization.Decision | string
.errored | decision_errored | k8s.authorization.Decision | bool
.group | authorizer_group | k8s.authorization.Authorizer, string | k8s.authorization.GroupCheck
.name | resourcecheck_name | k8s.authorization.ResourceCheck, string | k8s.authorization.ResourceCheck
.namespace | resourcecheck_namespace | k8s.authorization.ResourceCheck, string | k8s.authorization.ResourceCheck
.path | authorizer_path | k8s.authorization.Authorizer, string | k8s.authorization.PathCheck
.reason | decision_reason | k8s.authorization.Decision | string
.resource | groupcheck_resource | k8s.authorization.GroupCheck, string | k8s.authorization.ResourceCheck
.serviceAccount | authorizer_serviceaccount | k8s.authorization.Authorizer, string, string | k8s.authorization.Authorizer
.subresource | resourcecheck_subresource | k8s.authorization.ResourceCheck, string | k8s.authorization.ResourceCheck
# optionals 28
_?._ | select_optional_field | dyn, string | optional(V)
_[?_] | list_optindex_optional_int | list(V), int | optional(V)
_[?_] | optional_list_optindex_optional_int | optional(list(V)), int | optional(V)
_[?_] | map_optindex_optional_value | map(K, V), K | optional(V)
_[?_] | optional_map_optindex_optional_value | optional(map(K, V)), K | optional(V)
_[_] | optional_list_index_int | optional(list(V)), int | optional(V)
_[_] | optional_map_index_value | optional(map(K, V)), K | optional(V)
.first | list_first | list(V) | optional(V)
.hasValue | optional_hasValue | optional(V) | bool
.last | list_last | list(V) | optional(V)
optional.none | optional_none |  | optional(V)
optional.of | optional_of | V | optional(V)
optional.ofNonZeroValue | optional_ofNonZeroValue | V | optional(V)
optional.unwrap | optional_unwrap | list(optional(V)) | list(V)
.or | optional_or_optional | optional(V), optional(V) | optional(V)
.orValue | optional_orValue_value | optional(V), V | V
.unwrapOpt | optional_unwrapOpt | list(optional(V)) | list(V)
.value | optional_value | optional(V) | V
# quantities 28
.add | quantity_add | k8s.Quantity, k8s.Quantity | k8s.Quantity
.add | quantity_add_int | k8s.Quantity, int | k8s.Quantity
.asApproximateFloat | quantity_get_float | k8s.Quantity | double
.asInteger | quantity_get_int | k8s.Quantity | int
.compareTo | quantity_compare_to | k8s.Quantity, k8s.Quantity | int
.isGreaterThan | quantity_is_greater_than | k8s.Quantity, k8s.Quantity | bool
.isInteger | quantity_is_integer | k8s.Quantity | bool
.isLessThan | quantity_is_less_than | k8s.Quantity, k8s.Quantity | bool
isQuantity | is_quantity_string | string | bool
quantity | string_to_quantity | string | k8s.Quantity
sign | quantity_sign | k8s.Quantity | int
.sub | quantity_sub | k8s.Quantity, k8s.Quantity | k8s.Quantity
.sub | quantity_sub_int | k8s.Quantity, int | k8s.Quantity
# sets 29
sets.contains | list_sets_contains_list | list(T), list(T) | bool
sets.equivalent | list_sets_equivalent_list | list(T), list(T) | bool
sets.intersects | list_sets_intersects_list | list(T), list(T) | bool
# strings 29
.charAt | string_char_at_int | string, int | string
.format | string_format | string, list(dyn) | string
.indexOf | string_index_of_string | string, string | int
.indexOf | string_index_of_string_int | string, string, int | int
.join | list_join | list(string) | string
.join | list_join_string | list(string), string | string
.lastIndexOf | string_last_index_of_string | string, string | int
.lastIndexOf | string_last_index_of_string_int | string, string, int | int
.lowerAscii | string_lower_ascii | string | string
.replace | string_replace_string_string | string, string, string | string
.replace | string_replace_string_string_int | string, string, string, int | string
.split | string_split_string | string, string | list(string)
.split | string_split_string_int | string, string, int | list(string)
strings.quote | strings_quote | string | string
.substring | string_substring_int | string, int | string
.substring | string_substring_int_int | string, int, int | string
.trim | string_trim | string | string
.upperAscii | string_upper_ascii | string | string
# addresses 30
cidr | string_to_cidr | string | net.CIDR
.containsCIDR | cidr_contains_cidr_string | net.CIDR, string | bool
.containsCIDR | cidr_contains_cidr | net.CIDR, net.CIDR | bool
.containsIP | cidr_contains_ip_string | net.CIDR, string | bool
.containsIP | cidr_contains_ip_ip | net.CIDR, net.IP | bool
.family | ip_family | net.IP | int
ip | string_to_ip | string | net.IP
.ip | cidr_ip | net.CIDR | net.IP
ip.isCanonical | ip_is_canonical | string | bool
isCIDR | is_cidr | string | bool
.isGlobalUnicast | ip_is_global_unicast | net.IP | bool
isIP | is_ip | string | bool
.isLinkLocalMulticast | ip_is_link_local_multicast | net.IP | bool
.isLinkLocalUnicast | ip_is_link_local_unicast | net.IP | bool
.isLoopback | ip_is_loopback | net.IP | bool
.isUnspecified | ip_is_unspecified | net.IP | bool
.masked | cidr_masked | net.CIDR | net.CIDR
.prefixLength | cidr_prefix_length | net.CIDR | int
string | ip_to_string | net.IP | string
string | cidr_to_string | net.CIDR | string
# authz selectors 31
.fieldSelector | authorizer_fieldselector | k8s.authorization.ResourceCheck, string | k8s.authorization.ResourceCheck
.labelSelector | authorizer_labelselector | k8s.authorization.ResourceCheck, string | k8s.authorization.ResourceCheck
# named formats 31
format.byte | format.byte |  | k8s.NamedFormat
format.date | format.date |  | k8s.NamedFormat
format.datetime | format.datetime |  | k8s.NamedFormat
format.dns1035Label | format.dns1035Label |  | k8s.NamedFormat
format.dns1035LabelPrefix | format.dns1035LabelPrefix |  | k8s.NamedFormat
format.dns1123Label | format.dns1123Label |  | k8s.NamedFormat
format.dns1123LabelPrefix | format.dns1123LabelPrefix |  | k8s.NamedFormat
format.dns1123Subdomain | format.dns1123Subdomain |  | k8s.NamedFormat
format.dns1123SubdomainPrefix | format.dns1123SubdomainPrefix |  | k8s.NamedFormat
format.labelValue | format.labelValue |  | k8s.NamedFormat
format.named | format-named | string | optional(k8s.NamedFormat)
format.qualifiedName | format.qualifiedName |  | k8s.NamedFormat
format.uri | format.uri |  | k8s.NamedFormat
format.uuid | format.uuid |  | k8s.NamedFormat
.validate | format-validate | k8s.NamedFormat, string | optional(list(string))
# versions 31
.compareTo | semver_compare_to | k8s.Semver, k8s.Semver | int
.isGreaterThan | semver_is_greater_than | k8s.Semver, k8s.Semver | bool
.isLessThan | semver_is_less_than | k8s.Semver, k8s.Semver | bool
isSemver | is_semver_string | string | bool
isSemver | is_semver_string_bool | string, bool | bool
.major | semver_major | k8s.Semver | int
.minor | semver_minor | k8s.Semver | int
.patch | semver_patch | k8s.Semver | int
semver | string_to_semver | string | k8s.Semver
semver | string_bool_to_semver | string, bool | k8s.Semver
# two variables 32
cel.@mapInsert | @mapInsert_map_key_value | map(K, V), K, V | map(K, V)
cel.@mapInsert | @mapInsert_map_map | map(K, V), map(K, V) | map(K, V)
# lists 34
.@sortByAssociatedKeys | list_int_sortByAssociatedKeys | list(T), list(int) | list(T)
.@sortByAssociatedKeys | list_uint_sortByAssociatedKeys | list(T), list(uint) | list(T)
.@sortByAssociatedKeys | list_double_sortByAssociatedKeys | list(T), list(double) | list(T)
.@sortByAssociatedKeys | list_bool_sortByAssociatedKeys | list(T), list(bool) | list(T)
.@sortByAssociatedKeys | list_google.protobuf.Duration_sortByAssociatedKeys | list(T), list(Duration) | list(T)
.@sortByAssociatedKeys | list_google.protobuf.Timestamp_sortByAssociatedKeys | list(T), list(Timestamp) | list(T)
.@sortByAssociatedKeys | list_string_sortByAssociatedKeys | list(T), list(string) | list(T)
.@sortByAssociatedKeys | list_bytes_sortByAssociatedKeys | list(T), list(bytes) | list(T)
.distinct | list_distinct | list(T) | list(T)
.flatten | list_flatten | list(list(T)) | list(T)
.flatten | list_flatten_int | list(dyn), int | list(dyn)
lists.range | lists_range | int | list(int)
.reverse | list_reverse | list(T) | list(T)
.slice | list_slice | list(T), int, int | list(T)
.sort | list_int_sort | list(int) | list(int)
.sort | list_uint_sort | list(uint) | list(uint)
.sort | list_double_sort | list(double) | list(double)
.sort | list_bool_sort | list(bool) | list(bool)
.sort | list_google.protobuf.Duration_sort | list(Duration) | list(Duration)
.sort | list_google.protobuf.Timestamp_sort | list(Timestamp) | list(Timestamp)
.sort | list_string_sort | list(string) | list(string)
.sort | list_bytes_sort | list(bytes) | list(bytes)
# list attributes 36
.includes | dra_includes_dyn_dyn | dyn, dyn | bool
"""  # noqa: E501 - one signature per line
